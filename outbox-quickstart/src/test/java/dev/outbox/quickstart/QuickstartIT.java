package dev.outbox.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

class QuickstartIT {
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);

    @Test
    void keepsThePromise() throws Exception {
        Report report = new Quickstart(out, false).run(null, 200);

        assertThat(report.isKept()).as(report.table(StandardCharsets.UTF_8)).isTrue();
        assertThat(output.toString(StandardCharsets.UTF_8))
                .startsWith("Starting PostgreSQL")
                .doesNotContain("\r");
    }

    @Test
    @EnabledIfEnvironmentVariable(
            named = "OUTBOX_SQLSERVER_URL",
            matches = ".+",
            disabledReason = "OUTBOX_SQLSERVER_URL is not set to an empty SQL Server database")
    void keepsThePromiseOnSqlServer() throws Exception {
        Report report = new Quickstart(out, false).run(System.getenv("OUTBOX_SQLSERVER_URL"), 50);

        assertThat(report.isKept()).as(report.table(StandardCharsets.UTF_8)).isTrue();
        assertThat(output.toString(StandardCharsets.UTF_8)).startsWith("On the SQLSERVER database given");
    }
}
