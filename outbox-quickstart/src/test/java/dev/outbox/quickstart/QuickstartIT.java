package dev.outbox.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class QuickstartIT {
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);

    @Test
    void keepsThePromise() throws Exception {
        Report report = new Quickstart(out, false).run(200);

        assertThat(report.isKept()).as(report.table(StandardCharsets.UTF_8)).isTrue();
        assertThat(output.toString(StandardCharsets.UTF_8))
                .startsWith("Starting PostgreSQL")
                .doesNotContain("\r");
    }
}
