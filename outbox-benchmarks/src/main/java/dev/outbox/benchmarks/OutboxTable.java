package dev.outbox.benchmarks;

import dev.outbox.migrations.OutboxMigrations;
import java.sql.SQLException;

/** The canonical table with its indexes, for ours and for the limits alike, and ways to fill it. */
final class OutboxTable {
    /** Ids that increase with time, as those of enqueue do; {@code %d} distinguishes the rows of one statement. */
    private static final String ID =
            "(lpad(to_hex(1750000000000 + n), 12, '0') || '7%03d8000' || lpad(to_hex(n), 12, '0'))::uuid";

    private static final String MESSAGES = """
            INSERT INTO outbox (work_item_id, topic, message_key, payload)
            SELECT %s, 'bench', %s, %s FROM generate_series(0, %d) n
            """;

    private static final String DONE = """
            INSERT INTO outbox (work_item_id, status, attempt_count, processed_on, topic, payload)
            SELECT %s, 2, 1, statement_timestamp(), 'bench', %s FROM generate_series(1, %d) n
            """;

    private static final String BLOCKED = """
            INSERT INTO outbox (work_item_id, due_on, topic, message_key, payload)
            SELECT %s, CASE n WHEN 1 THEN statement_timestamp() + interval '1 day' END, 'bench', '-blocked', %s
            FROM generate_series(1, %d) n
            """;

    private static final String BACKING_OFF = """
            INSERT INTO outbox (work_item_id, due_on, attempt_count, topic, message_key, payload)
            SELECT %s, statement_timestamp() + interval '1 day', 1, 'bench', substr(md5('off' || n), 1, 12), %s
            FROM generate_series(1, %d) n
            """;

    private OutboxTable() {}

    static void install(Database database) {
        OutboxMigrations.install(database.direct());
    }

    static void fill(Database database, Backlog backlog) throws SQLException {
        if (backlog.done() > 0) {
            database.execute(DONE.formatted(ID.formatted(1), Payload.SQL, backlog.done()));
            database.execute("CHECKPOINT"); // their log would bring one about later
        }
        if (backlog.blocked() > 0) {
            database.execute(BLOCKED.formatted(ID.formatted(2), Payload.SQL, backlog.blocked()));
        }
        if (backlog.backingOff() > 0) {
            database.execute(BACKING_OFF.formatted(ID.formatted(3), Payload.SQL, backlog.backingOff()));
        }
        String key = backlog.keys() == 0 ? "NULL" : "substr(md5((n %% %d)::text), 1, 12)".formatted(backlog.keys());
        database.execute(MESSAGES.formatted(id(backlog), key, Payload.SQL, backlog.messages() - 1));
    }

    /** The id of message {@code n}. */
    static String id(Backlog backlog) {
        return backlog.randomIds() ? "gen_random_uuid()" : ID.formatted(0);
    }

    static long unfinished(Database database) throws SQLException {
        return database.count("SELECT count(*) FROM outbox WHERE status <> 2");
    }
}
