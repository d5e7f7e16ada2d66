package dev.outbox.postgres;

import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tables for {@link ClaimPlanIT}: what the planner believes about each, and what is in it. */
final class PlanScenario {
    static final int BATCH = 500;

    private static final String ROWS = " (work_item_id, topic, payload, message_key, due_on, status, processed_on)"
            + " SELECT gen_random_uuid(), 'orders', repeat('x', 100), %s, %s, %d, %s FROM generate_series(1, %d) i";

    private final OutboxDatabase database;
    private final String table;
    private final boolean inbox;

    private PlanScenario(OutboxDatabase database, boolean inbox) {
        this.database = database;
        this.inbox = inbox;
        this.table = inbox ? database.newInboxTable() : database.newTable();
        if (inbox) {
            shareWithAnotherConsumer();
        }
        database.execute("ALTER TABLE " + table + " SET (autovacuum_enabled = off)");
    }

    /** Half of what another consumer has to do, and defaults that make all other rows ours. */
    private void shareWithAnotherConsumer() {
        database.execute("ALTER TABLE " + table + " ALTER source SET DEFAULT 'shop',"
                + " ALTER message_id SET DEFAULT gen_random_uuid(), ALTER consumer SET DEFAULT 'another'");
        rows("NULL", "NULL", 0, 25_000);
        rows("'key-' || i % 1000", "NULL", 0, 25_000);
        database.execute("ALTER TABLE " + table + " ALTER consumer SET DEFAULT 'billing'");
    }

    static PlanScenario empty(OutboxDatabase database) {
        return new PlanScenario(database, false).analyze();
    }

    /** 100,000 unfinished rows of every kind and as many Done ones, known to the planner. */
    static PlanScenario backlog(OutboxDatabase database, boolean inbox) {
        return new PlanScenario(database, inbox)
                .rows("CASE WHEN i % 2 = 0 THEN 'key-' || i % 1000 END", "NULL", 2, 100_000)
                .rows("NULL", "NULL", 0, 40_000)
                .rows("NULL", "now() - i * interval '1 second'", 0, 10_000)
                .rows("NULL", "now() + i * interval '1 minute'", 0, 5_000)
                .rows("'later-' || i", "now() + i * interval '1 minute'", 0, 5_000)
                .rows("'key-' || i % 1000", "NULL", 0, 40_000)
                .analyze()
                .leaseSome();
    }

    /** Analyzed while it was empty, as autovacuum does with a drained queue; then a burst came. */
    static PlanScenario burst(OutboxDatabase database, boolean inbox) {
        return new PlanScenario(database, inbox).analyze().burst();
    }

    PlanScenario burst() {
        return rows("'key-' || i % 1000", "NULL", 0, 40_000)
                .rows("NULL", "NULL", 0, 40_000)
                .leaseSome();
    }

    /** Every row was leased and is Done or given back; no vacuum since, and the planner knows of none of it. */
    static PlanScenario leasedOnce(OutboxDatabase database, boolean inbox) {
        PlanScenario scenario = new PlanScenario(database, inbox)
                .rows("'key-' || i % 1000", "NULL", 0, 50_000)
                .rows("NULL", "NULL", 0, 50_000)
                .analyze();
        database.execute("UPDATE " + scenario.table + " SET status = 1, owner_token = gen_random_uuid()");
        database.execute("UPDATE " + scenario.table + " SET owner_token = NULL, status = sequence % 2 * 2,"
                + " processed_on = CASE WHEN sequence % 2 = 1 THEN now() - interval '8 days' END,"
                + " due_on = CASE WHEN sequence % 2 = 0 AND message_key IS NULL THEN now() END");
        return scenario.leaseSome();
    }

    private PlanScenario rows(String key, String due, int status, int count) {
        String processed = status == 2 ? "now() - interval '8 days' + i * interval '1 second'" : "NULL";
        database.execute("INSERT INTO " + table + ROWS.formatted(key, due, status, processed, count));
        return this;
    }

    private PlanScenario analyze() {
        database.execute("ANALYZE " + table);
        return this;
    }

    /** What pollers hold at a moment: a few batches, of many keys; half of the leases have run out. */
    private PlanScenario leaseSome() {
        database.execute("UPDATE " + table + " SET status = 1, attempt_count = 1, processed_by = 'somebody',"
                + " owner_token = md5(message_key)::uuid,"
                + " locked_until = now() + (sequence % 4 - 2) * interval '1 hour' WHERE sequence IN ("
                + " SELECT min(sequence) FROM " + table + " WHERE " + ours()
                + " AND status = 0 AND message_key IS NOT NULL"
                + " GROUP BY message_key ORDER BY message_key LIMIT 800)");
        database.execute("UPDATE " + table + " SET status = 1, attempt_count = 1, processed_by = 'somebody',"
                + " owner_token = md5('')::uuid, locked_until = now() + (sequence % 4 - 2) * interval '1 hour'"
                + " WHERE sequence IN (SELECT sequence FROM " + table
                + " WHERE " + ours() + " AND status = 0 AND message_key IS NULL ORDER BY sequence LIMIT 800)");
        return this;
    }

    private String ours() {
        return inbox ? "consumer = 'billing'" : "true";
    }

    String table() {
        return table;
    }

    /** The statements' parameters, as main code would bind them for a batch. */
    Plans plans(String topics) throws SQLException {
        List<String> leased = database.query("SELECT work_item_id || ',' || owner_token FROM " + table
                + " WHERE status = 1 ORDER BY md5(work_item_id::text) LIMIT " + BATCH);
        PostgresTable found;
        try (Connection connection = database.pool().getConnection()) {
            found = inbox
                    ? PostgresTable.inbox(connection, TableName.parse(table), "billing")
                    : PostgresTable.outbox(connection, TableName.parse(table));
        }
        return new Plans(database.server().dataSource(), found)
                .bind("consumer", "varchar", "'billing'")
                .bind("topics", "text[]", topics)
                .bind("listed", "boolean", "true")
                .bind("ready_marks", "bigint[]", array(Collections.nCopies(3, Long.MIN_VALUE).stream()))
                .bind("ready_ends", "bigint[]", array(Collections.nCopies(3, Long.MAX_VALUE).stream()))
                .bind("due_marks", "timestamptz[]", array(Collections.nCopies(3, "-infinity").stream()))
                .bind("due_ends", "timestamptz[]", array(Collections.nCopies(3, "infinity").stream()))
                .bind("due_sequences", "bigint[]", array(Collections.nCopies(3, Long.MIN_VALUE).stream()))
                .bind("max_bytes", "int", String.valueOf(ClaimRequest.STANDARD_BYTES))
                .bind("bulk_first", "boolean", "false")
                .bind("normal_first", "boolean", "false")
                .bind("high_share", "int", String.valueOf(BATCH * 65 / 100))
                .bind("tenth", "int", String.valueOf(BATCH / 10))
                .bind("places", "int[]", "'{1,2,3}'")
                .bind("freed_keys", "text[]", "'{key-1,key-2}'")
                .bind("bounded_keys", "text[]", "'{key-4,key-5}'")
                .bind("bounds", "bigint[]", "'{1,1}'")
                .bind("known_keys", "text[]", "'{key-1,key-2,key-3}'")
                .bind("arrived_after", "bigint[]", array(Collections.nCopies(3, Long.MIN_VALUE).stream()))
                .bind("arrived_up_to", "bigint[]", array(Collections.nCopies(3, Long.MAX_VALUE).stream()))
                .bind("first_band", "int", "1")
                .bind("due_up_to", "timestamptz", "'infinity'")
                .bind("due_after", "timestamptz", "'-infinity'")
                .bind("due_sequence", "bigint", "0")
                .bind("heads", "int", String.valueOf(BATCH))
                .bind("longest_run", "int", "2")
                .bind("stretch", "int", "4096")
                .bind("count", "int", String.valueOf(BATCH))
                .bind("token", "uuid", "'00000000-0000-0000-0000-000000000001'")
                .bind("lease", "bigint", "30000000")
                .bind("owner", "varchar", "'me'")
                .bind("ids", "uuid[]", array(leased.stream().map(row -> row.split(",")[0])))
                .bind("tokens", "uuid[]", array(leased.stream().map(row -> row.split(",")[1])))
                .bind(
                        "statuses",
                        "smallint[]",
                        array(Stream.iterate(0, i -> (i + 2) % 4).limit(leased.size())))
                .bind("delays", "bigint[]", array(Collections.nCopies(leased.size(), 1_000_000).stream()))
                .bind("errors", "text[]", array(Collections.nCopies(leased.size(), "refused").stream()))
                .bind("given_back", "int[]", array(Collections.nCopies(leased.size(), 0).stream()))
                .bind("blocking", "boolean", "false")
                .bind("blocks", "boolean[]", array(Collections.nCopies(leased.size(), false).stream()))
                .bind("delete_done", "boolean", "false")
                .bind("max_attempts", "int", "5")
                .bind("batch", "int", "1000")
                .bind("older_than", "bigint", String.valueOf(7L * 24 * 3600 * 1_000_000))
                .bind("begin", "text", "'-infinity'")
                .bind("lock", "bigint", "1");
    }

    private static String array(Stream<?> elements) {
        return elements.map(String::valueOf).collect(Collectors.joining(",", "'{", "}'"));
    }
}
