package dev.outbox.testkit.poller;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while it is open: the logger of the tests writes to the standard error stream. */
final class CapturedLog implements AutoCloseable {
    private final PrintStream original = System.err;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    CapturedLog() {
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    List<String> warnings() {
        return lines("WARN");
    }

    List<String> errors() {
        return lines("ERROR");
    }

    String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private List<String> lines(String level) {
        return text().lines().filter(line -> line.contains("] " + level + " ")).toList();
    }

    @Override
    public void close() {
        System.setErr(original);
        original.print(bytes.toString(StandardCharsets.UTF_8));
    }
}
