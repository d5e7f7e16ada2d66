package dev.outbox.benchmarks;

import dev.outbox.admin.Admin;
import dev.outbox.admin.DeadFilter;
import dev.outbox.admin.Page;
import dev.outbox.migrations.OutboxMigrations;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;

/** A question of an operator about a table with 1,000,000 rows Done and 100,000 Dead, asked again and again. */
record Ask(String name, Question question, int times) implements Contender {
    private static final int DONE = 1_000_000;
    private static final int DEAD = 100_000;

    private static final String FILL = """
            INSERT INTO outbox (work_item_id, topic, message_key, payload, status, attempt_count, created_on, processed_on,
                last_error)
            SELECT gen_random_uuid(), 'bench-' || n %% 5, 'order-' || n %% 10000, %s, %d, 1,
                statement_timestamp() - n * interval '1 millisecond' - interval '1 second',
                statement_timestamp() - n * interval '1 millisecond', 'no route'
            FROM generate_series(1, %d) AS n
            """;

    static final Question LIST = (pool, admin) ->
            admin.deadLetters().list(DeadFilter.all(), Page.first(50)).items().size();

    static final Question LIST_BY_HAND = (pool, admin) -> rows(pool, """
            SELECT work_item_id, topic, message_key, attempt_count, processed_on, last_error
            FROM outbox WHERE status = 3 ORDER BY processed_on DESC, work_item_id DESC LIMIT 50
            """);

    static final Question FIND = (pool, admin) ->
            admin.lookup().byKey("order-42", Page.first(50)).items().size();

    static final Question FIND_BY_HAND = (pool, admin) -> rows(pool, """
            SELECT work_item_id, topic, status, attempt_count, created_on, processed_on, last_error
            FROM outbox WHERE message_key = 'order-42' ORDER BY sequence LIMIT 50
            """);

    static final Question STATUS = (pool, admin) -> admin.status().size();

    /** What is open by topic, and the pace of the last 10,000. */
    static final Question STATUS_BY_HAND = (pool, admin) -> rows(pool, """
                    SELECT topic, count(*) FROM outbox WHERE status = 3 GROUP BY topic
                    UNION ALL
                    SELECT 'leased', count(*) FROM outbox WHERE status = 1
                    """) + rows(pool, """
                    SELECT percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY processed_on - created_on)
                    FROM (SELECT processed_on, created_on FROM outbox WHERE status = 2
                        ORDER BY processed_on DESC LIMIT 10000) AS last
                    """);

    /** Answers how many things were told. */
    interface Question {
        int ask(DataSource pool, Admin admin) throws Exception;
    }

    private static int rows(DataSource pool, String sql) throws SQLException {
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
        return String.format(Locale.ROOT, "%,d rows Done, %,d Dead, asked %d times", DONE, DEAD, times);
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        OutboxTable.install(database);
        OutboxMigrations.installAdmin(database.direct());
        database.execute(FILL.formatted(Payload.SQL, 2, trial.scale().of(DONE)));
        database.execute(FILL.formatted(Payload.SQL, 3, trial.scale().of(DEAD)));
        OutboxMigrations.installLookup(database.direct(), "outbox");
        database.analyze();
        DataSource pool = database.pool(1);
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
