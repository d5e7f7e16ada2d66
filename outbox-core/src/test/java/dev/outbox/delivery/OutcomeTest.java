package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentFailureException;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OutcomeTest {
    @Test
    void anOutcomeCarriesItsCause() {
        IOException cause = new IOException("down");

        assertThat(Outcome.retry(cause)).isEqualTo(new Outcome.Retry(cause));
        assertThat(Outcome.dead(cause)).isEqualTo(new Outcome.Dead(cause));
        assertThat(Outcome.done()).isSameAs(Outcome.Done.DONE);
    }

    @Test
    void retryAfterIsARetryWithItsDelay() {
        Outcome.Retry retry = (Outcome.Retry) Outcome.retryAfter(Duration.ofSeconds(3), "throttled");

        assertThat(retry.cause()).isInstanceOf(RetryAfterException.class).hasMessage("throttled");
        assertThat(((RetryAfterException) retry.cause()).delay()).hasSeconds(3);
    }

    @Test
    void aCauseAReasonAndADelayAreRequired() {
        assertThatThrownBy(() -> Outcome.retry(null)).hasMessage("cause must not be null");
        assertThatThrownBy(() -> Outcome.dead(null)).hasMessage("cause must not be null");
        assertThatThrownBy(() -> new Outcome.Retry(null)).hasMessage("cause must not be null");
        assertThatThrownBy(() -> new Outcome.Unavailable(null)).hasMessage("cause must not be null");
        assertThatThrownBy(() -> new Outcome.Dead(null)).hasMessage("cause must not be null");
        assertThatThrownBy(() -> Outcome.retryAfter(Duration.ofSeconds(-1), "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("delay must be between PT0S and ");
        assertThatThrownBy(() -> new RetryAfterException(Duration.ZERO, null)).hasMessage("reason must not be null");
        assertThatThrownBy(() -> new RetryAfterException(null, "x")).hasMessage("delay must not be null");
    }

    @Test
    void onlyAPermanentFailureIsDeadAtOnce() {
        assertThat(Verdicts.outcome(new PermanentFailureException("no such user")))
                .isInstanceOf(Outcome.Dead.class);
        assertThat(Verdicts.outcome(new PermanentFailureException("no", new IOException())))
                .isInstanceOf(Outcome.Dead.class);
        assertThat(Verdicts.outcome(new IOException())).isInstanceOf(Outcome.Retry.class);
        assertThat(Verdicts.outcome(new RetryAfterException(Duration.ZERO, "later")))
                .isInstanceOf(Outcome.Retry.class);
        assertThat(Verdicts.outcome(new StackOverflowError())).isInstanceOf(Outcome.Retry.class);
    }
}
