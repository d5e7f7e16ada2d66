package dev.outbox.benchmarks;

import dev.outbox.admin.Admin;
import dev.outbox.migrations.OutboxMigrations;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * A question of an operator, repeated many times, about an outbox and an inbox with 1,000,000 rows Done and 100,000 Dead
 * each.
 */
record Ask(String name, Question question, int times) implements Contender {
    static final String OURS = "ours-admin";
    static final String BY_HAND = "by-hand";

    private static final int DONE = 1_000_000;
    private static final int DEAD = 100_000;

    private static final String FILL = """
            INSERT INTO %1$s (work_item_id, topic, message_key, correlation_id, tenant_id, payload, status, attempt_count,
                created_on, processed_on, last_error%2$s)
            SELECT gen_random_uuid(), 'bench-' || n %% 5, 'order-' || n %% 10000, 'c-' || n / 10, 'tenant-' || n %% 1000, %3$s,
                %4$d, 1, statement_timestamp() - n * interval '1 second' - interval '1 second',
                statement_timestamp() - n * interval '1 second', 'no route'%5$s
            FROM generate_series(1, %6$d) AS n
            """;

    /** Returns how many rows the answer has. */
    interface Question {
        int ask(DataSource pool, Admin admin) throws Exception;
    }

    /**
     * Asks by SQL.
     *
     * @param statements each runs for the outbox and for the inbox, whose name is inserted
     */
    static Question byHand(String... statements) {
        return (pool, admin) -> {
            int count = 0;
            for (String table : new String[] {"outbox", "inbox"}) {
                for (String sql : statements) {
                    count += rows(pool, sql.formatted(table));
                }
            }
            return count;
        };
    }

    static int rows(DataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }

    @Override
    public String settings() {
        return String.format(Locale.ROOT, "%,d rows Done, %,d Dead in each table, asked %d times", DONE, DEAD, times);
    }

    @Override
    public Database database(Server server, Scale scale) throws Exception {
        return server.keptDatabase("admin_" + scale.name().toLowerCase(Locale.ROOT), database -> fill(database, scale));
    }

    private static void fill(Database database, Scale scale) throws SQLException {
        OutboxTable.install(database);
        OutboxMigrations.installInbox(database.direct());
        OutboxMigrations.installAdmin(database.direct());
        for (String table : new String[] {"outbox", "inbox"}) {
            boolean inbox = table.equals("inbox");
            String columns = inbox ? ", consumer, source, message_id" : "";
            database.execute(FILL.formatted(
                    table, columns, Payload.SQL, 2, inbox ? ", 'billing', 'shop', 'done-' || n" : "", scale.of(DONE)));
            database.execute(FILL.formatted(
                    table, columns, Payload.SQL, 3, inbox ? ", 'billing', 'shop', 'dead-' || n" : "", scale.of(DEAD)));
            OutboxMigrations.installLookup(database.direct(), table);
        }
        database.analyze();
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        DataSource pool = trial.database().pool(1);
        Admin admin = Admin.of(pool).build();
        ask(pool, admin);
        int count = trial.scale().of(times);
        Meter meter = Meter.start(trial.server());
        for (int i = 0; i < count; i++) {
            ask(pool, admin);
        }
        meter.stopClock();
        return meter.read(count);
    }

    private void ask(DataSource pool, Admin admin) throws Exception {
        if (question.ask(pool, admin) == 0) {
            throw new WrongResultException("there was no answer");
        }
    }
}
