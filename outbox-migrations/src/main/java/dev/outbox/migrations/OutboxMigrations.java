package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallDialect;
import dev.outbox.migrations.internal.InstallScript;
import dev.outbox.migrations.internal.MigrationDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;

/**
 * Creates the canonical outbox and inbox tables.
 *
 * <p>There are three ways to run the same plain SQL: {@link #install} or {@link #installIfMissing} run it, {@link
 * #render} prints it for a DBA, and Flyway users add the location {@value #POSTGRES_LOCATION} or {@value
 * #SQLSERVER_LOCATION} with the placeholder {@code outbox_table}. For an inbox, use {@link #installInbox}, {@link
 * #installInboxIfMissing} or {@link #renderInbox}, or with Flyway {@value #POSTGRES_INBOX_LOCATION} or {@value
 * #SQLSERVER_INBOX_LOCATION} with {@code inbox_table}. The scripts of the outbox and of the inbox are numbered
 * independently, so with Flyway each needs a history table of its own. A method that takes a data source finds out which
 * {@link Database} it leads to.
 */
public final class OutboxMigrations {
    /** The Flyway location of the PostgreSQL scripts; their one placeholder is {@code outbox_table}. */
    public static final String POSTGRES_LOCATION = "classpath:dev/outbox/migrations/postgres/install";

    /** The Flyway location of the PostgreSQL scripts of an inbox; their one placeholder is {@code inbox_table}. */
    public static final String POSTGRES_INBOX_LOCATION = "classpath:dev/outbox/migrations/postgres/inbox";

    /** The name of the outbox table if none is given. */
    public static final String DEFAULT_TABLE = "outbox";

    /** The name of the inbox table if none is given. */
    public static final String DEFAULT_INBOX_TABLE = "inbox";

    /** The Flyway location of the SQL Server scripts; their one placeholder is {@code outbox_table}. */
    public static final String SQLSERVER_LOCATION = "classpath:dev/outbox/migrations/sqlserver/install";

    /** The Flyway location of the SQL Server scripts of an inbox; their one placeholder is {@code inbox_table}. */
    public static final String SQLSERVER_INBOX_LOCATION = "classpath:dev/outbox/migrations/sqlserver/inbox";

    /** The Flyway location of the PostgreSQL scripts of the audit table and the pollers' table; no placeholder. */
    public static final String POSTGRES_ADMIN_LOCATION = "classpath:dev/outbox/migrations/postgres/admin";

    /** The Flyway location of the SQL Server scripts of the audit table and the pollers' table; no placeholder. */
    public static final String SQLSERVER_ADMIN_LOCATION = "classpath:dev/outbox/migrations/sqlserver/admin";

    private OutboxMigrations() {}

    /**
     * The Flyway location of a phase of an {@link Upgrade}, on either database, for the tables that the placeholders
     * {@code outbox_table}, {@code inbox_table} and {@code inbox_consumer} name. Each phase has a location of its own,
     * because Flyway applies everything that it finds, and each phase needs a release of its own. The location of {@link
     * Phase#RENAMING} does nothing for tables that do not need it.
     *
     * @param phase any but {@link Phase#LEGACY}
     */
    public static String upgradeLocation(Phase phase) {
        if (phase == Phase.LEGACY) {
            throw new IllegalArgumentException("no migration leads to phase 0; use Upgrade.back(...)");
        }
        return "classpath:dev/outbox/migrations/upgrade/"
                + (phase == Phase.RENAMING ? "renaming" : "phase" + phase.number());
    }

    /** Creates the table {@value #DEFAULT_TABLE}; fails if it exists. */
    public static void install(DataSource dataSource) {
        install(dataSource, DEFAULT_TABLE);
    }

    /**
     * Creates this table and everything that belongs to it, or nothing.
     *
     * @param table {@code name} or {@code schema.name}; the schema must exist
     * @throws OutboxException if it exists already, or the database refused
     */
    public static void install(DataSource dataSource, String table) {
        install(dataSource, InstallScript.OUTBOX, table, "installIfMissing");
    }

    /** Creates the inbox table {@value #DEFAULT_INBOX_TABLE}; fails if it exists. */
    public static void installInbox(DataSource dataSource) {
        installInbox(dataSource, DEFAULT_INBOX_TABLE);
    }

    /** {@link #install(DataSource, String)} for an inbox table. */
    public static void installInbox(DataSource dataSource, String table) {
        install(dataSource, InstallScript.INBOX, table, "installInboxIfMissing");
    }

    private static void install(DataSource dataSource, InstallScript script, String table, String instead) {
        if (!installIfMissing(dataSource, script, table)) {
            throw new OutboxException(
                    "table \"" + table + "\" exists already; use " + instead + "(...) to leave it as it is");
        }
    }

    /** Creates the table {@value #DEFAULT_TABLE} unless it exists; safe when several nodes start together. */
    public static boolean installIfMissing(DataSource dataSource) {
        return installIfMissing(dataSource, DEFAULT_TABLE);
    }

    /**
     * Creates this table unless it exists; safe when several nodes start together.
     *
     * @return whether it was created now
     */
    public static boolean installIfMissing(DataSource dataSource, String table) {
        return installIfMissing(dataSource, InstallScript.OUTBOX, table);
    }

    /** Creates the inbox table {@value #DEFAULT_INBOX_TABLE} unless it exists; safe when several nodes start together. */
    public static boolean installInboxIfMissing(DataSource dataSource) {
        return installInboxIfMissing(dataSource, DEFAULT_INBOX_TABLE);
    }

    /** {@link #installIfMissing(DataSource, String)} for an inbox table. */
    public static boolean installInboxIfMissing(DataSource dataSource, String table) {
        return installIfMissing(dataSource, InstallScript.INBOX, table);
    }

    private static boolean installIfMissing(DataSource dataSource, InstallScript script, String table) {
        try (Connection connection = dataSource.getConnection()) {
            Database database = Database.of(connection);
            InstallDialect dialect = MigrationDialect.of(database).install();
            TableName name = name(dialect, table);
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            try {
                run(connection, dialect.serialize());
                boolean missing = !Catalog.of(database).exists(connection, name);
                if (missing) {
                    run(connection, dialect.render(script, name));
                }
                connection.commit();
                return missing;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("cannot install table \"" + table + "\"", e);
        }
    }

    /**
     * Whether there is a table of this name, in the place where {@link #installIfMissing(DataSource, String)} and its
     * siblings look for it. Changes nothing.
     *
     * @param table {@code name} or {@code schema.name}: an outbox or inbox table, {@code outbox_audit} or {@code
     *     outbox_pollers}
     * @throws IllegalArgumentException if no table of this name could be installed
     */
    public static boolean isInstalled(DataSource dataSource, String table) {
        try (Connection connection = dataSource.getConnection()) {
            Database database = Database.of(connection);
            TableName name = name(MigrationDialect.of(database).install(), table);
            return Catalog.of(database).exists(connection, name);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look for table \"" + table + "\"", e);
        }
    }

    /**
     * Creates the tables {@code outbox_audit} and {@code outbox_pollers} unless they exist; safe when several nodes
     * start together. Operators need the first to requeue and discard, and the second to see the pollers.
     *
     * @return whether something was created now
     */
    public static boolean installAdmin(DataSource dataSource) {
        return installAdmin(dataSource, "");
    }

    /**
     * {@link #installAdmin(DataSource)} in this schema, which must be the one of the outbox and inbox tables.
     *
     * @param schema must exist; empty means the schema where the database creates tables by default
     */
    public static boolean installAdmin(DataSource dataSource, String schema) {
        boolean audit = installIfMissing(dataSource, InstallScript.AUDIT, in(schema, "outbox_audit"));
        return installIfMissing(dataSource, InstallScript.POLLERS, in(schema, "outbox_pollers")) || audit;
    }

    /** The plain SQL that {@link #installAdmin(DataSource, String)} runs. */
    public static String renderAdmin(Database database, String schema) {
        return render(database, InstallScript.AUDIT, in(schema, "outbox_audit")) + "\n"
                + render(database, InstallScript.POLLERS, in(schema, "outbox_pollers"));
    }

    private static String in(String schema, String table) {
        return Require.present("schema", schema).isEmpty() ? table : schema + "." + table;
    }

    /**
     * Creates the indexes by which operators look up items of this outbox or inbox table: by key, correlation id and tenant.
     * They make every enqueue a little slower. On PostgreSQL the table can be used while they are built.
     */
    public static void installLookup(DataSource dataSource, String table) {
        try (Connection connection = dataSource.getConnection()) {
            String script = render(Database.of(connection), InstallScript.LOOKUP, table);
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true); // an index is built concurrently in no transaction
            try {
                for (String statement : script.split(";\n", -1)) {
                    if (!statement.isBlank()) {
                        run(connection, statement);
                    }
                }
            } finally {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("cannot create the lookup indexes of table \"" + table + "\"", e);
        }
    }

    /**
     * The names of the indexes that {@link #installLookup} would create for this table; empty if all are there.
     * Changes nothing.
     */
    public static List<String> missingLookup(DataSource dataSource, String table) {
        try (Connection connection = dataSource.getConnection()) {
            Database database = Database.of(connection);
            InstallDialect dialect = MigrationDialect.of(database).install();
            TableName name = name(dialect, table);
            Set<String> present = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
            Catalog.of(database)
                    .find(connection, name)
                    .ifPresent(found -> present.addAll(found.indexes().keySet()));
            return dialect.lookupSuffixes().stream()
                    .map(suffix -> name.name() + suffix)
                    .filter(index -> !present.contains(index))
                    .toList();
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look for the lookup indexes of table \"" + table + "\"", e);
        }
    }

    /** The plain SQL that {@link #installLookup} runs. */
    public static String renderLookup(Database database, String table) {
        return render(database, InstallScript.LOOKUP, table);
    }

    /** The plain SQL that {@link #install(DataSource, String)} runs, for people to read and run themselves. */
    public static String render(Database database, String table) {
        return render(database, InstallScript.OUTBOX, table);
    }

    /** The plain SQL that {@link #installInbox(DataSource, String)} runs. */
    public static String renderInbox(Database database, String table) {
        return render(database, InstallScript.INBOX, table);
    }

    private static String render(Database database, InstallScript script, String table) {
        InstallDialect dialect =
                MigrationDialect.of(Require.present("database", database)).install();
        return dialect.render(script, name(dialect, table));
    }

    private static TableName name(InstallDialect dialect, String table) {
        TableName name = TableName.parse(Require.present("table", table));
        if (name.name().length() > dialect.longestName()) {
            throw new IllegalArgumentException("table must have at most " + dialect.longestName()
                    + " characters, so that its indexes can be named after it, was \"" + name.name() + "\"");
        }
        return name;
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
