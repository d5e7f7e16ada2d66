package dev.outbox.cli;

import static dev.outbox.cli.Database.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.evolution.LegacyTables;
import dev.outbox.evolution.Spelling;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The real jar, run by the real script: in a pipe, and on a real terminal, which {@code script} of util-linux gives. */
@Timeout(300)
class TerminalIT {
    private static final Path OUTBOX = Path.of("target/outbox").toAbsolutePath();
    private static final Path SCRIPT = Path.of("/usr/bin/script");

    @RegisterExtension
    static final PostgresExtension POSTGRES = Database.extension();

    private EmbeddedDatabase fresh;
    private Database database;

    @BeforeEach
    void connect(EmbeddedDatabase fresh) {
        this.fresh = fresh;
        this.database = new Database(fresh);
    }

    private record Ran(int code, String out) {}

    /** @param question what is answered once it was asked; empty for nothing */
    private Ran run(String question, String answer, List<String> command, String... variables) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("OUTBOX_URL", fresh.jdbcUrl());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("TERM", "xterm");
        builder.environment().remove("NO_COLOR");
        for (int i = 0; i < variables.length; i += 2) {
            builder.environment().put(variables[i], variables[i + 1]);
        }
        Process process = builder.start();
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            boolean answered = question.isEmpty();
            for (int b = process.getInputStream().read();
                    b >= 0;
                    b = process.getInputStream().read()) {
                out.write(b);
                if (!answered && out.toString(StandardCharsets.UTF_8).endsWith(question)) {
                    answered = true;
                    process.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                    process.getOutputStream().flush(); // left open: an end of input would end the terminal
                }
            }
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return new Ran(process.exitValue(), out.toString(StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    private Ran inAPipe(String... args) throws Exception {
        return run(
                "",
                "",
                Stream.concat(Stream.of(OUTBOX.toString()), Stream.of(args)).toList());
    }

    private Ran onTerminal(String question, String answer, String command, String... variables) throws Exception {
        assumeTrue(Files.isExecutable(SCRIPT), "there is no " + SCRIPT + " to make a terminal with");
        List<String> line = List.of(SCRIPT.toString(), "-qec", "'" + OUTBOX + "' " + command, "/dev/null");
        return run(question, answer, line, variables);
    }

    @Test
    void inAPipeTheJarPrintsPlainTextAndEndsWithTheExitCode() throws Exception {
        Ran status = inAPipe("status");

        assertThat(status.code()).as(status.out()).isEqualTo(ExitCode.OK);
        assertThat(status.out()).startsWith("public.outbox (outbox, phase 4)").doesNotContain("\u001b");
        assertThat(inAPipe("--version").out()).startsWith("outbox 0.");
    }

    @Test
    void onATerminalStatusIsDrawnOverItselfInColour() throws Exception {
        database.enqueue(message("poison.a"));
        database.poll();

        Ran watch = onTerminal("", "", "status --watch=100ms --times=3");

        assertThat(watch.code()).as(watch.out()).isEqualTo(ExitCode.OK);
        assertThat(watch.out())
                .startsWith("\u001b[2J\u001b[H")
                .contains("\u001b[31mdead 1\u001b[0m", "\u001b[1mpublic.outbox\u001b[0m")
                .satisfies(out -> assertThat(out.split("\u001b\\[H", -1)).hasSize(4));
    }

    @Test
    void onATerminalThePersonIsAsked() throws Exception {
        database.enqueue(message("poison.a"), message("poison.b"));
        database.poll();

        Ran asked = onTerminal("[y/N] ", "n\n", "dead discard --all --because=x");

        assertThat(asked.code()).as(asked.out()).isEqualTo(ExitCode.USAGE);
        assertThat(asked.out()).contains("Discard 2 items? [y/N]", "nothing was done");
    }

    @Test
    void onATerminalABackfillShowsABar() throws Exception {
        database.execute(LegacyTables.outbox(Spelling.SNAKE, "old"));
        database.execute("INSERT INTO old (topic, payload) SELECT 'orders', '{}' FROM generate_series(1, 200)");
        assertThat(database.cli()
                        .run("migrate", "apply", "--phase=1", "--outbox=old", "--only=outbox")
                        .code())
                .isEqualTo(ExitCode.OK);

        Ran backfill = onTerminal("", "", "backfill --outbox=old --only=outbox --batch=50");

        assertThat(backfill.code()).as(backfill.out()).isEqualTo(ExitCode.OK);
        assertThat(backfill.out())
                .contains("\r[#######.......................]  25%  50 of 200 rows")
                .contains("\r[##############################] 100%  200 of 200 rows")
                .contains("old: 200 rows completed");
    }

    @Test
    void aPasswordIsAskedForUnseenAndColoursCanBeRefused() throws Exception {
        String url = fresh.jdbcUrl().replaceFirst("&?password=[^&]*", "");

        Ran status = onTerminal("Password: ", "s3cret\n", "status --ask-password", "OUTBOX_URL", url, "NO_COLOR", "1");

        assertThat(status.code()).as(status.out()).isEqualTo(ExitCode.OK);
        assertThat(status.out()).contains("Password: ", "public.outbox").doesNotContain("s3cret", "\u001b");
    }
}
