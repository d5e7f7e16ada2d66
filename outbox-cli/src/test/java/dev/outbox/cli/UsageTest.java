package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused before anybody connects. */
class UsageTest {
    private static final String URL = "jdbc:postgresql://localhost/shop";

    @TempDir
    Path files;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://localhost/shop?user=app&password=hunter2",
                "jdbc:sqlserver://localhost;databaseName=shop;password={hunter2};encrypt=true",
                "jdbc:sqlserver://localhost;pwd=hunter2",
                "jdbc:postgresql://app:hunter2@localhost/shop",
                "jdbc:postgresql://app:hun/hunter2@localhost/shop",
                "jdbc:postgresql://app:hun@hunter2@localhost/shop",
                "jdbc:postgresql://app:hun?hunter2@localhost/shop",
                "jdbc:postgresql://localhost/shop;password=hunter2",
                "jdbc:postgresql://localhost/shop?pass%77ord=hunter2",
                "jdbc:postgresql://localhost/shop?PASSWORD = hunter2",
                "jdbc:sqlserver://localhost;password={a}}b;hunter2};encrypt=true",
                "jdbc:sqlserver://localhost;trustStorePassword=hunter2"
            })
    void aPasswordInAnArgumentIsRefusedAndNotRepeated(String url) {
        TestCli.Result result = new TestCli().run("status", "--url", url);

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err())
                .contains("--url has a password in it", "OUTBOX_PASSWORD")
                .doesNotContain("hunter2");
    }

    @Test
    void aCommandWithoutADatabaseSaysHowToNameOne() {
        TestCli.Result result = new TestCli().run("status");

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("no database", "--url", "OUTBOX_URL", "--config");
    }

    @Test
    void aUrlOfAnotherKindIsRefusedWithoutItsPassword() {
        TestCli.Result result = new TestCli()
                .with("OUTBOX_URL", "postgres://app:hunter2@localhost/shop")
                .run("status");

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err())
                .contains("must be jdbc:postgresql://", "postgres:***")
                .doesNotContain("hunter2");
    }

    @Test
    void filesThatCannotBeReadAreNamed() throws IOException {
        Path missing = files.resolve("nowhere");

        assertThat(new TestCli().run("status", "--config", missing.toString())).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("cannot read the file " + missing);
        });
        assertThat(new TestCli().run("status", "--url", URL, "--password-file", missing.toString()))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
                    assertThat(result.err()).contains("cannot read the password file " + missing);
                });
        Path config = Files.writeString(files.resolve("config"), "url=" + URL + "\npassword-file=" + missing + "\n");
        assertThat(new TestCli().with("OUTBOX_CONFIG", config.toString()).run("status"))
                .satisfies(result -> assertThat(result.err()).contains("cannot read the password file " + missing));
    }

    @Test
    void askingForAPasswordNeedsATerminal() {
        TestCli.Result result = new TestCli().run("status", "--url", URL, "--ask-password");

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--ask-password needs a terminal");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "seven days", "-7d", "PT-1H", "7x", "99999999999d", "999999999d", "P99999999D"})
    void aLengthOfTimeThatIsNoneIsRefusedWithExamples(String time) {
        TestCli.Result result = new TestCli().run("purge", "--url", URL, "--older-than=" + time);

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("\"" + time + "\" is no length of time", "90s, 15m, 2h, 7d");
    }

    @Test
    void anItemThatIsNamedWrongIsRefused() {
        assertThat(new TestCli().run("dead", "show", "--url", URL, "42")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("outbox/<id> or inbox/<id>", "\"42\"");
        });
        assertThat(new TestCli().run("dead", "requeue", "--url", URL, "--because", "x", "outbox/42"))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
                    assertThat(result.err()).contains("UUID", "\"42\"");
                });
    }

    @Test
    void anActionSaysWhyAndOnWhat() {
        assertThat(new TestCli().run("dead", "discard", "--url", URL, "--all")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("--because", "Try: outbox dead discard --help");
        });
        assertThat(new TestCli().run("dead", "discard", "--url", URL, "--because", "x"))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
                    assertThat(result.err()).contains("which items?", "--all");
                });
        assertThat(new TestCli().run("dead", "discard", "--url", URL, "--because", "x", "--all", "--topic", "orders"))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
                    assertThat(result.err()).contains("one way to choose items, not 2");
                });
    }

    @Test
    void aCommandThatThereIsNotIsRefusedWithASuggestion() {
        TestCli.Result result = new TestCli().run("statsu");

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("statsu", "outbox status");
    }

    @Test
    void phasesAndRatesAndPagesHaveBounds() {
        assertThat(new TestCli()
                        .run("migrate", "apply", "--url", URL, "--phase", "7")
                        .err())
                .contains("\"7\" is no phase");
        assertThat(new TestCli()
                        .run("dead", "requeue", "--url", URL, "--all", "--because", "x", "--rate", "0")
                        .err())
                .contains("rate");
        assertThat(new TestCli().run("find", "--url", URL).err()).contains("--key");
        assertThat(new TestCli().run("status", "--url", URL, "--watch=1ms").err())
                .contains("--watch must be at least 100ms");
    }

    @Test
    void helpIsPrintedAsAResultAndNamesTheExitCodes() {
        TestCli.Result result = new TestCli().run("--help");

        assertThat(result.code()).isEqualTo(ExitCode.OK);
        assertThat(result.out())
                .contains(
                        "status", "dead", "find", "purge", "migrate", "backfill", "verify", "doctor", "4 no connection")
                .doesNotContain("\u001b");
    }
}
