package dev.outbox.admin;

import static org.awaitility.Awaitility.await;

import dev.outbox.migrations.OutboxMigrations;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** Large tables on one connection, whose session counts what it read. */
final class LargeTables implements AutoCloseable {
    /** Of an empty index the planner reads a page each time that it thinks of it, of one with an entry none. */
    static final String AN_ENTRY_IN_EACH_INDEX = """
            INSERT INTO %1$s (work_item_id, topic, message_key, payload, status, attempt_count, due_on, locked_until,
                owner_token%2$s)
            SELECT gen_random_uuid(), 'open', key, 'x', status, 0, statement_timestamp() + later,
                statement_timestamp() + leased, CASE status WHEN 1 THEN gen_random_uuid() END%3$s
            FROM (VALUES
                (1, 0, NULL, NULL::interval, NULL::interval),
                (2, 0, NULL, interval '1 hour', NULL),
                (3, 0, 'open-key', NULL, NULL),
                (4, 0, 'later-key', interval '1 hour', NULL),
                (5, 1, NULL, NULL, interval '1 hour'),
                (6, 1, 'leased-key', NULL, interval '1 hour')) AS open (n, status, key, later, leased)
            """;

    private static final String ROWS = """
            INSERT INTO %1$s (work_item_id, topic, message_key, correlation_id, tenant_id, payload, status, attempt_count,
                created_on, processed_on, last_error%2$s)
            SELECT gen_random_uuid(), 'topic-' || n %% 5, 'order-' || n %% 1000, 'c-' || n, 'tenant-' || n %% 500,
                repeat('x', 100), %3$d, 1, statement_timestamp() - n * interval '1 second' - interval '2 seconds',
                statement_timestamp() - n * interval '1 second', 'no route'%4$s
            FROM generate_series(1, %5$d) AS n
            """;

    final Connection connection;

    final DataSource single;

    final Admin admin;

    static void fill(DataSource dataSource) throws SQLException {
        OutboxMigrations.install(dataSource);
        OutboxMigrations.installInbox(dataSource);
        OutboxMigrations.installAdmin(dataSource);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("outbox", "inbox")) {
                boolean inbox = table.equals("inbox");
                String columns = inbox ? ", consumer, source, message_id" : "";
                statement.execute(
                        "ALTER TABLE " + table + " SET (autovacuum_enabled = off)"); // it would be counted too
                statement.execute(
                        ROWS.formatted(table, columns, 2, inbox ? ", 'billing', 'shop', 'done-' || n" : "", 20_000));
                statement.execute(
                        ROWS.formatted(table, columns, 3, inbox ? ", 'billing', 'shop', 'dead-' || n" : "", 2_000));
                OutboxMigrations.installLookup(dataSource, table);
                vacuum(statement, table);
            }
        }
    }

    /**
     * Until every page is known to be visible to all, which decides how much is read and how it is planned: another session,
     * such as autovacuum's at the catalog, may hold a snapshot meanwhile.
     */
    static void vacuum(Statement statement, String table) {
        await().atMost(Duration.ofMinutes(2)).until(() -> {
            statement.execute("VACUUM ANALYZE " + table);
            try (ResultSet row = statement.executeQuery(
                    "SELECT relallvisible = relpages FROM pg_class WHERE relname = '" + table + "'")) {
                row.next();
                return row.getBoolean(1);
            }
        });
    }

    /** One connection for everything: a session counts what it read, and tells when it is asked to. */
    LargeTables(DataSource dataSource) throws SQLException {
        connection = dataSource.getConnection();
        Connection kept = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        single = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> kept);
        admin = Admin.of(single).build();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    long counted(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_stat_force_next_flush()");
        }
        return Long.parseLong(value(sql));
    }

    String value(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
