package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.testkit.EmbeddedDatabase;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens between a command and its database. */
class ConnectionIT {
    @TempDir
    Path files;

    private final EmbeddedDatabase database = EmbeddedDatabase.create();

    @AfterEach
    void drop() {
        database.close();
    }

    private String urlWithoutUser() {
        return database.jdbcUrl().replaceFirst("\\?.*", "");
    }

    @Test
    void aServerThatDoesNotAnswerIsNamedWithAdvice() throws Exception {
        int nobody;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = socket.getLocalPort();
        }
        String url = "jdbc:postgresql://localhost:" + nobody + "/shop";

        TestCli.Result result = new TestCli().with("OUTBOX_PASSWORD", "hunter2").run("status", "--url", url);

        assertThat(result.code()).isEqualTo(ExitCode.NO_CONNECTION);
        assertThat(result.err())
                .contains("no connection to " + url, "check host and port")
                .doesNotContain("hunter2", "at dev.outbox");
    }

    @Test
    void aDatabaseThatThereIsNotIsNamed() {
        TestCli.Result result = new TestCli()
                .with("OUTBOX_URL", database.jdbcUrl().replaceFirst("/outbox_\\w+", "/nowhere"))
                .run("status");

        assertThat(result.code()).isEqualTo(ExitCode.NO_CONNECTION);
        assertThat(result.err()).contains("nowhere", "check the name of the database");
    }

    @Test
    void aWrongPasswordIsRefusedAndARightOneComesFromWhereverItIsKept() throws Exception {
        String role = "locked_" + System.nanoTime();
        requirePasswordOf(role, "right-one");
        TestCli cli = new TestCli().with("OUTBOX_USER", role);
        Path password = Files.writeString(files.resolve("password"), "right-one\n");
        Path config = Files.writeString(
                files.resolve("config"), "url=" + urlWithoutUser() + "\nuser=" + role + "\npassword=right-one\n");

        assertThat(cli.with("OUTBOX_PASSWORD", "wrong-one").run("migrate", "plan", "--url", urlWithoutUser()))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.NO_CONNECTION);
                    assertThat(result.err())
                            .contains(role, "check --user, and OUTBOX_PASSWORD")
                            .doesNotContain("wrong-one");
                });
        List<TestCli.Result> let = List.of(
                new TestCli()
                        .with("OUTBOX_USER", role)
                        .with("OUTBOX_PASSWORD", "right-one")
                        .run("migrate", "plan", "--url", urlWithoutUser()),
                new TestCli()
                        .with("OUTBOX_PASSWORD_FILE", password.toString())
                        .run("migrate", "plan", "--url", urlWithoutUser(), "--user", role),
                cli.run("migrate", "plan", "--url", urlWithoutUser(), "--password-file", password.toString()),
                new TestCli().run("migrate", "plan", "--config", config.toString()),
                new TestCli().with("OUTBOX_CONFIG", config.toString()).run("migrate", "plan"));
        assertThat(let)
                .allSatisfy(result -> assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK));
    }

    /** The embedded server trusts everybody; this one has to prove who it is. */
    private void requirePasswordOf(String role, String password) throws Exception {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            Path rules;
            try (ResultSet row = statement.executeQuery("SHOW hba_file")) {
                row.next();
                rules = Path.of(row.getString(1));
            }
            assumeTrue(Files.isWritable(rules), "the server's files are elsewhere");
            Files.writeString(rules, "host all " + role + " all scram-sha-256\n" + Files.readString(rules));
            statement.execute("CREATE ROLE " + role + " LOGIN PASSWORD '" + password + "'");
            try (ResultSet reloaded = statement.executeQuery("SELECT pg_reload_conf()")) {
                reloaded.next();
            }
        }
        await("the server to have read its rules again")
                .atMost(Duration.ofMinutes(2))
                .until(() -> isRefused(role, "another"));
    }

    private boolean isRefused(String role, String password) {
        try (Connection connection = DriverManager.getConnection(urlWithoutUser(), role, password)) {
            return connection.isClosed();
        } catch (SQLException e) {
            return "28P01".equals(e.getSQLState());
        }
    }

    @Test
    void missingTablesAreNamedWithTheNextStep() {
        TestCli cli = new TestCli().with("OUTBOX_URL", database.jdbcUrl());

        assertThat(cli.run("status", "--outbox=billing_outbox")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.err())
                    .contains("billing_outbox", "outbox migrate apply --install", "--outbox")
                    .doesNotContain("at dev.outbox", "(...)");
        });
        for (String[] command : new String[][] {
            {"doctor"},
            {"dead", "list"},
            {"find", "--key=x"},
            {"purge", "--older-than=7d", "--dry-run"},
            {"dead", "requeue", "--all", "--because=x", "--dry-run"},
            {"migrate", "status"}
        }) {
            assertThat(cli.run(command).code()).as(command[0]).isEqualTo(ExitCode.NOT_FOUND);
        }
        assertThat(cli.run("verify")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.err()).contains("\"outbox\"", "\"inbox\"", "outbox migrate apply --install");
        });
        assertThat(cli.run("status", "--outbox=a.b-c")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("letters, digits and underscores");
        });
    }
}
