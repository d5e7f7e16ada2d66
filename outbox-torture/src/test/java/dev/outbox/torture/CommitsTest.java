package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Commits are found however a driver sends them. */
class CommitsTest {
    private final Commits commits = new Commits();
    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    @Test
    void aCommitBehindOtherStatementsIsFound() {
        message(' ', "user\0postgres\0options\0-c outbox.child=w3\0\0");
        message('P', "\0UPDATE outbox\0");
        message('B', "\0\0");
        message('P', "S_2\0\nCOMMIT\0");
        int commit = sent.size();
        message('B', "\0S_2\0");

        assertThat(commits.next(sent.toByteArray(), sent.size())).isEqualTo(commit);
        assertThat(commits.child()).isEqualTo("w3");
    }

    @Test
    void aCommitInTwoPiecesIsFound() {
        message(' ', "user\0postgres\0\0");
        message('Q', "COMMIT\0");
        byte[] all = sent.toByteArray();

        assertThat(commits.next(all, all.length - 3)).isEqualTo(-1);
        assertThat(commits.next(new byte[] {'I', 'T', 0}, 3)).isZero();
        assertThat(commits.child()).isNull();
    }

    @Test
    void aNameThatWasPreparedAnewIsNoCommitAnyMore() {
        message(' ', "\0");
        message('P', "S_1\0COMMIT\0");
        message('P', "S_1\0SELECT 'COMMIT'\0");
        message('B', "\0S_1\0");

        assertThat(commits.next(sent.toByteArray(), sent.size())).isEqualTo(-1);
    }

    /** @param type a space for the first message, which has none */
    private void message(char type, String body) {
        if (type != ' ') {
            sent.write(type);
        }
        byte[] bytes = body.getBytes(StandardCharsets.ISO_8859_1);
        sent.writeBytes(ByteBuffer.allocate(4).putInt(bytes.length + 4).array());
        sent.writeBytes(bytes);
    }
}
