package dev.outbox.postgres;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while it is open; it is still written where it always is. */
final class CapturedLog implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();

    CapturedLog() {
        System.setErr(new PrintStream(
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        write(new byte[] {(byte) b}, 0, 1);
                    }

                    @Override
                    public synchronized void write(byte[] bytes, int start, int length) {
                        text.write(bytes, start, length);
                        before.write(bytes, start, length);
                    }
                },
                true,
                StandardCharsets.UTF_8));
    }

    List<String> warnings(String part) {
        return text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("WARN") && line.contains(part))
                .toList();
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
