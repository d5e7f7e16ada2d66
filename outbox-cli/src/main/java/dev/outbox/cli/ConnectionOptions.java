package dev.outbox.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * How to reach the database. An option wins over an environment variable, and the variable wins over the file. The password is
 * never an option, because every user of the machine can read the arguments of a process.
 */
final class ConnectionOptions {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Option(
            names = "--url",
            paramLabel = "<jdbc-url>",
            description = "jdbc:postgresql://host/database or jdbc:sqlserver://host;databaseName=…, without a password."
                    + " Else OUTBOX_URL, else url in the file.")
    private @Nullable String url;

    @Option(names = "--user", paramLabel = "<user>", description = "Else OUTBOX_USER, else user in the file.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            paramLabel = "<file>",
            description = "Its first line is the password. Else OUTBOX_PASSWORD, OUTBOX_PASSWORD_FILE, or password or"
                    + " password-file in the file.")
    private @Nullable Path passwordFile;

    @Option(names = "--ask-password", description = "Ask for the password.")
    private boolean askPassword;

    @Option(
            names = "--config",
            paramLabel = "<file>",
            description = "Properties: url, user, password, password-file, outbox, inbox. Else OUTBOX_CONFIG.")
    private @Nullable Path config;

    @Option(
            names = "--outbox",
            paramLabel = "<table>",
            description = "The outbox table, name or schema.name. Else OUTBOX_TABLE, else \"outbox\".")
    private @Nullable String outbox;

    @Option(
            names = "--inbox",
            paramLabel = "<table>",
            description = "The inbox table, name or schema.name. Else OUTBOX_INBOX_TABLE, else \"inbox\".")
    private @Nullable String inbox;

    String outboxTable(Environment environment) {
        return first(
                outbox, environment.variable("OUTBOX_TABLE"), file(environment).getProperty("outbox"), "outbox");
    }

    String inboxTable(Environment environment) {
        return first(
                inbox,
                environment.variable("OUTBOX_INBOX_TABLE"),
                file(environment).getProperty("inbox"),
                "inbox");
    }

    /** Connects at once, so that a wrong address or password is the only error of the command. */
    HikariDataSource open(Environment environment) {
        Properties file = file(environment);
        String address = url(environment, file);
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(address);
        pool.setUsername(blankToNull(first(user, environment.variable("OUTBOX_USER"), file.getProperty("user"))));
        pool.setPassword(blankToNull(password(environment, file)));
        pool.setMaximumPoolSize(4);
        pool.setMinimumIdle(0);
        pool.setConnectionTimeout(PATIENCE.toMillis());
        pool.setInitializationFailTimeout(1);
        pool.setPoolName("outbox-cli");
        try {
            return new HikariDataSource(pool);
        } catch (HikariPool.PoolInitializationException e) {
            throw refused(address, e);
        } catch (RuntimeException e) {
            throw CliException.noConnection(
                    "cannot use " + Secrets.shown(address) + ": " + Secrets.masked(String.valueOf(e.getMessage())), e);
        }
    }

    private String url(Environment environment, Properties file) {
        if (url != null && Secrets.areIn(url)) {
            throw CliException.usage("--url has a password in it, which every user of this machine can read;"
                    + " leave it out and set OUTBOX_PASSWORD, OUTBOX_PASSWORD_FILE, --password-file or --ask-password");
        }
        String address = first(url, environment.variable("OUTBOX_URL"), file.getProperty("url"));
        if (address.isEmpty()) {
            throw CliException.usage(
                    "no database: give --url jdbc:postgresql://host/database, set OUTBOX_URL, or name a file by --config");
        }
        if (!Secrets.isAddress(address)) {
            throw CliException.usage("the url must be jdbc:postgresql://host:port/database?… or"
                    + " jdbc:sqlserver://host:port;databaseName=…, with user and password elsewhere, was \""
                    + Secrets.shown(address) + "\"");
        }
        return address;
    }

    private String password(Environment environment, Properties file) {
        if (askPassword) {
            char[] typed = environment.terminal().secret("Password: ");
            if (typed == null) {
                throw CliException.usage(
                        "--ask-password needs a terminal; set OUTBOX_PASSWORD or OUTBOX_PASSWORD_FILE");
            }
            return new String(typed);
        }
        if (passwordFile != null) {
            return firstLine(passwordFile);
        }
        String given = environment.variable("OUTBOX_PASSWORD");
        if (!given.isEmpty()) {
            return given;
        }
        String named = environment.variable("OUTBOX_PASSWORD_FILE");
        if (!named.isEmpty()) {
            return firstLine(Path.of(named));
        }
        String written = file.getProperty("password", "");
        String elsewhere = file.getProperty("password-file", "");
        return written.isEmpty() && !elsewhere.isEmpty() ? firstLine(Path.of(elsewhere)) : written;
    }

    private Properties file(Environment environment) {
        String named = environment.variable("OUTBOX_CONFIG");
        Path path = config != null ? config : named.isEmpty() ? null : Path.of(named);
        Properties properties = new Properties();
        if (path != null) {
            try (Reader reader = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
                properties.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                throw CliException.usage("cannot read the file " + path + " ("
                        + e.getClass().getSimpleName() + "); it must be properties: url=…, user=…");
            }
        }
        return properties;
    }

    private static String firstLine(Path file) {
        try (var lines = Files.lines(file, StandardCharsets.UTF_8)) {
            return lines.findFirst().orElse("");
        } catch (IOException | RuntimeException e) {
            throw CliException.usage("cannot read the password file " + file + " ("
                    + e.getClass().getSimpleName() + ")");
        }
    }

    private static CliException refused(String address, Throwable failure) {
        SQLException cause = sqlCause(failure);
        String state = cause == null || cause.getSQLState() == null ? "" : cause.getSQLState();
        String what = cause == null ? String.valueOf(failure.getMessage()) : String.valueOf(cause.getMessage());
        String advice = state.startsWith("28")
                ? "check --user, and OUTBOX_PASSWORD, OUTBOX_PASSWORD_FILE, --password-file or --ask-password"
                : state.startsWith("3D")
                        ? "check the name of the database in the url"
                        : "check host and port, and that the server runs and may be reached from here";
        return CliException.noConnection(
                "no connection to " + Secrets.shown(address) + ": " + Secrets.masked(what.strip()) + "; " + advice,
                failure);
    }

    private static @Nullable SQLException sqlCause(Throwable failure) {
        SQLException found = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                found = sql;
                if (sql.getSQLState() != null) {
                    return found;
                }
            }
        }
        return found;
    }

    private static @Nullable String blankToNull(String value) {
        return value.isBlank() ? null : value;
    }

    private static String first(@Nullable String... candidates) {
        for (String candidate : candidates) {
            if (candidate != null && !candidate.isBlank()) {
                return candidate.strip();
            }
        }
        return "";
    }
}
