package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Settlement;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorTextTest {
    @Test
    void itIsTheTypeAndTheMessage() {
        assertThat(ErrorText.of(new IOException("broker is down"))).isEqualTo("java.io.IOException: broker is down");
        assertThat(ErrorText.of(new IOException())).isEqualTo("java.io.IOException");
    }

    @Test
    void itNamesTheCausesButNotWithoutEnd() {
        Throwable error = new IOException("0");
        for (int i = 1; i <= 9; i++) {
            error = new IllegalStateException(String.valueOf(i), error);
        }

        assertThat(ErrorText.of(error))
                .isEqualTo("java.lang.IllegalStateException: 9, caused by java.lang.IllegalStateException: 8,"
                        + " caused by java.lang.IllegalStateException: 7,"
                        + " caused by java.lang.IllegalStateException: 6");
    }

    @Test
    void aCauseThatIsItsOwnCauseEnds() {
        Exception one = new IllegalStateException("one");
        Exception two = new IllegalStateException("two", one);
        one.initCause(two);

        assertThat(ErrorText.of(one)).startsWith("java.lang.IllegalStateException: one, caused by");
        assertThat(ErrorText.of(new OwnCause())).isEqualTo(OwnCause.class.getName() + ": own");
    }

    @Test
    void itIsBounded() {
        Exception inner = new IOException("y".repeat(100_000));

        assertThat(ErrorText.of(new IllegalStateException("x".repeat(100_000), inner)))
                .hasSize(Settlement.MAX_ERROR)
                .startsWith("java.lang.IllegalStateException: xxx");
    }

    @Test
    void itIsOneLineWithoutControlCharacters() {
        assertThat(ErrorText.of(new IOException("a\r\nb\tc\u0000d\u001be\u007ff\u0085g\u2028h\u2029i")))
                .isEqualTo("java.io.IOException: a b c d e f g h i");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password=hunter2",
                "PASSWORD = hunter2",
                "passwd:hunter2",
                "pwd: hunter2, user: x",
                "login failed: secret=hunter2;",
                "token=hunter2",
                "access_token=hunter2&x=1",
                "api_key=hunter2",
                "api-key: hunter2",
                "apikey=hunter2",
                "Authorization: Bearer hunter2",
                "authorization: Basic hunter2",
                "connect to amqp://user:hunter2@broker:5672/vhost",
                "connect to amqp://user:hunt@hunter2@broker:5672/vhost",
                "jdbc:postgresql://db/app?user=a&password=hunter2",
                "{\"password\":\"hunter2\"}",
                "{\"user\": \"a\", \"password\" : \"my hunter2\", \"x\": 1}",
                "password='my hunter2'",
                "{'api_key': 'hunter2'}",
                "client_secret\n=\nhunter2"
            })
    void obviousSecretsAreTakenOut(String message) {
        assertThat(ErrorText.of(new IOException(message))).contains("***").doesNotContain("hunter2");
        assertThat(ErrorText.of(new IllegalStateException("x", new IOException(message))))
                .doesNotContain("hunter2");
    }

    @Test
    void whatIsNoSecretStays() {
        assertThat(ErrorText.of(new IOException("POST https://broker:8080/topics/a@b failed: 503, user=jo")))
                .isEqualTo("java.io.IOException: POST https://broker:8080/topics/a@b failed: 503, user=jo");
        assertThat(ErrorText.of(new IOException("token expired; password must not be empty")))
                .isEqualTo("java.io.IOException: token expired; password must not be empty");
        assertThat(ErrorText.of(new IOException("password=hunter2 rejected by db1")))
                .isEqualTo("java.io.IOException: password=*** rejected by db1");
    }

    @Test
    void anExceptionThatCannotSayWhatHappenedIsStillNamed() {
        assertThat(ErrorText.of(new Speechless())).startsWith(Speechless.class.getName());
    }

    private static final class OwnCause extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OwnCause() {
            super("own");
        }

        @Override
        public synchronized Throwable getCause() {
            return this;
        }
    }

    private static final class Speechless extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message today");
        }
    }
}
