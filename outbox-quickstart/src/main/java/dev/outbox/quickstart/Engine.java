package dev.outbox.quickstart;

import dev.outbox.Inbox;
import dev.outbox.Outbox;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.sqlserver.SqlServerInbox;
import dev.outbox.sqlserver.SqlServerOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;

/** The databases that the example runs on, and everything that differs between them. */
enum Engine {
    POSTGRES("SELECT work_item_id, message_key, status, topic, payload FROM outbox ORDER BY sequence") {
        @Override
        Outbox outbox(DataSource dataSource) {
            OutboxMigrations.installIfMissing(dataSource);
            Outbox outbox = PostgresOutbox.create(dataSource);
            return outbox;
        }

        @Override
        Inbox inbox(DataSource dataSource, String consumer) {
            OutboxMigrations.installInboxIfMissing(dataSource);
            return PostgresInbox.builder(dataSource).consumer(consumer).build();
        }
    },
    SQLSERVER("SELECT LOWER(CAST(WorkItemId AS nvarchar(36))), MessageKey, Status, Topic, Payload FROM outbox"
            + " ORDER BY Sequence") {
        @Override
        Outbox outbox(DataSource dataSource) {
            OutboxMigrations.installIfMissing(dataSource);
            return SqlServerOutbox.create(dataSource);
        }

        @Override
        Inbox inbox(DataSource dataSource, String consumer) {
            OutboxMigrations.installInboxIfMissing(dataSource);
            return SqlServerInbox.builder(dataSource).consumer(consumer).build();
        }
    };

    private static final List<String> TABLES = List.of("outbox", "inbox", "orders", "invoices");

    private final String entries;

    Engine(String entries) {
        this.entries = entries;
    }

    static Engine of(String url) {
        return url.startsWith("jdbc:sqlserver:") ? SQLSERVER : POSTGRES;
    }

    abstract Outbox outbox(DataSource dataSource);

    abstract Inbox inbox(DataSource dataSource, String consumer);

    /** Reads id, key, status, topic and payload of all messages, in the order of their commits within a key. */
    String entries() {
        return entries;
    }

    /**
     * Refuses to run if its tables exist already, because it drops them in the end.
     *
     * @throws IllegalStateException if one of them exists
     */
    static void checkEmpty(DataSource dataSource) throws SQLException {
        for (String table : TABLES) {
            try (Connection connection = dataSource.getConnection();
                    var tables = connection.getMetaData().getTables(null, null, table, null)) {
                if (tables.next()) {
                    throw new IllegalStateException("the database has a table " + table
                            + " already; give the quickstart an empty database, or drop " + TABLES + " in it");
                }
            }
        }
    }

    /** Drops the tables, so that the database is empty again. */
    static void clear(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute("DROP TABLE IF EXISTS " + table);
                statement.execute("DROP SEQUENCE IF EXISTS " + table + "_sequence");
            }
        }
    }
}
