package dev.outbox.benchmarks;

import dev.outbox.admin.Box;
import dev.outbox.admin.DeadFilter;
import dev.outbox.admin.Discard;
import dev.outbox.admin.Item;
import dev.outbox.admin.Page;
import dev.outbox.admin.Requeue;
import dev.outbox.benchmarks.Ask.Question;
import dev.outbox.benchmarks.Scenario.Metric;
import java.time.Duration;
import java.util.List;

/** What operators ask, each next to the SQL that a user with the same indexes would write. */
final class Questions {
    private static final Page FIFTY = Page.first(50);

    /**
     * The repetitions of answers that take less than a millisecond. With fewer repetitions the benchmark would measure the
     * JVM's compiler.
     */
    private static final int MANY = 2_000;

    private static final String NEWEST = """
            SELECT work_item_id, status, sequence, topic, message_key, message_id, correlation_id, tenant_id, attempt_count, created_on,
                due_on, processed_on, processed_by, blocks_key, last_error
            FROM %%s WHERE status = 3 %s ORDER BY processed_on DESC, work_item_id DESC LIMIT 51
            """;

    private static final String FIND = """
            SELECT work_item_id, status, sequence, topic, message_key, message_id, correlation_id, tenant_id, attempt_count, created_on,
                due_on, processed_on, processed_by, blocks_key, last_error
            FROM %%s WHERE %s ORDER BY sequence LIMIT 51
            """;

    private static final String COUNT_DEAD = "SELECT count(topic) FROM (SELECT topic FROM %s WHERE status = 3) AS dead";

    private static final String FIRST_DEAD = """
            SELECT work_item_id, status, sequence, topic, message_key, message_id, correlation_id, tenant_id, attempt_count, created_on,
                due_on, processed_on, processed_by, blocks_key, last_error
            FROM %s WHERE status = 3 ORDER BY processed_on, work_item_id LIMIT 20
            """;

    private static final String DONE = "SELECT count(*) FROM (SELECT FROM %s WHERE status = 2 LIMIT 10000) AS done";

    private static final String BLOCKED = """
            SELECT message_key, status, last_error FROM %1$s WHERE status = 3 AND blocks_key AND message_key IS NOT NULL
            UNION ALL
            SELECT message_key, status, last_error FROM %1$s
            WHERE status = 0 AND message_key IS NOT NULL AND due_on > statement_timestamp() AND attempt_count > 0
            """;

    private static final String OLDEST_DUE = """
            SELECT min(created_on) FROM %1$s WHERE status = 0 AND message_key IS NULL AND due_on IS NULL
            UNION ALL
            SELECT min(due_on) FROM %1$s WHERE status = 0 AND message_key IS NULL AND due_on IS NOT NULL
            UNION ALL
            SELECT min(COALESCE(due_on, created_on)) FROM %1$s WHERE status = 0 AND message_key IS NOT NULL
            """;

    private Questions() {}

    static List<Scenario> scenarios() {
        return List.of(
                scenario(
                        "list",
                        "are the newest 50 dead letters listed",
                        MANY,
                        list(DeadFilter.all()),
                        NEWEST.formatted("")),
                scenario(
                        "list-topic",
                        "are the newest 50 dead letters of a topic listed",
                        MANY,
                        list(DeadFilter.all().topic("bench-3")),
                        NEWEST.formatted("AND topic = 'bench-3'")),
                scenario(
                        "list-error",
                        "are dead letters looked for by an error that few have",
                        10,
                        list(DeadFilter.all().error("no ROUTE").olderThan(Duration.ofMinutes(5))),
                        NEWEST.formatted("AND lower(last_error) LIKE '%%no route%%'"
                                + " AND processed_on < statement_timestamp() - interval '5 minutes'")),
                scenario("show", "is an item of each table shown", MANY, new Show(false), new Show(true)),
                scenario(
                        "find-key",
                        "is everything about a key found",
                        MANY,
                        (pool, admin) ->
                                found(admin.lookup().byKey("order-42", FIFTY).items()),
                        FIND.formatted("message_key = 'order-42'")),
                scenario(
                        "find-correlation",
                        "is everything with a correlation id found",
                        MANY,
                        (pool, admin) -> found(
                                admin.lookup().byCorrelation("c-42", FIFTY).items()),
                        FIND.formatted("correlation_id = 'c-42'")),
                scenario(
                        "find-tenant",
                        "is everything of a tenant found",
                        MANY,
                        (pool, admin) -> found(
                                admin.lookup().byTenant("tenant-42", FIFTY).items()),
                        FIND.formatted("tenant_id = 'tenant-42'")),
                scenario(
                        "status",
                        "is the status told",
                        20,
                        (pool, admin) -> admin.status().size(),
                        """
                        SELECT topic, count(*) FROM %s WHERE status = 3 GROUP BY topic
                        """,
                        """
                        SELECT percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY processed_on - created_on)
                        FROM (SELECT processed_on, created_on FROM %s WHERE status = 2
                            ORDER BY processed_on DESC LIMIT 10000) AS last
                        """,
                        DONE,
                        BLOCKED,
                        OLDEST_DUE),
                scenario(
                        "backlog",
                        "is the backlog told",
                        50,
                        (pool, admin) -> 1
                                + (int) admin.backlog(Box.OUTBOX).dead()
                                + (int) admin.backlog(Box.INBOX).dead(),
                        "SELECT count(*) FROM %s WHERE status = 3",
                        "SELECT count(*) FROM %s WHERE status = 1",
                        "SELECT count(*) FROM %s WHERE status = 0 AND message_key IS NULL AND due_on IS NULL",
                        "SELECT count(*), min(due_on) FROM %s WHERE status = 0 AND message_key IS NULL AND due_on IS NOT NULL",
                        "SELECT count(*), min(created_on) FROM %s WHERE status = 0 AND message_key IS NOT NULL"),
                scenario(
                        "dry-requeue",
                        "is it told what a requeue would do",
                        20,
                        (pool, admin) -> (int) admin.deadLetters()
                                .requeue(
                                        DeadFilter.all(),
                                        Requeue.by("anna", "why").asDryRun())
                                .count(),
                        COUNT_DEAD,
                        FIRST_DEAD),
                scenario(
                        "dry-discard",
                        "is it told what a discard would do",
                        20,
                        (pool, admin) -> (int) admin.deadLetters()
                                .discard(
                                        DeadFilter.all(),
                                        Discard.by("anna", "why").asDryRun())
                                .count(),
                        COUNT_DEAD,
                        FIRST_DEAD),
                scenario(
                        "dry-purge",
                        "is it told what a purge would do",
                        20,
                        (pool, admin) -> 1
                                + (int) admin.purge(Box.OUTBOX, Duration.ofDays(7), true)
                                        .count()
                                + (int) admin.purge(Box.INBOX, Duration.ofDays(7), true)
                                        .count(),
                        """
                        SELECT count(*) FROM (
                            SELECT FROM %s
                            WHERE status = 2 AND processed_on < statement_timestamp() - interval '7 days'
                            LIMIT 100000) AS old
                        """),
                scenario(
                        "doctor",
                        "does the doctor look at everything",
                        20,
                        (pool, admin) -> admin.doctor().examine().size(),
                        "SELECT clock_timestamp()",
                        "SELECT pid, usename, xact_start FROM pg_stat_activity WHERE xact_start IS NOT NULL",
                        "SELECT slot_name, active, restart_lsn FROM pg_replication_slots",
                        "SELECT gid, prepared FROM pg_prepared_xacts",
                        """
                        SELECT indexrelid::regclass, indisvalid, pg_get_indexdef(indexrelid) FROM pg_index
                        WHERE indrelid = '%s'::regclass
                        """,
                        """
                        SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
                        WHERE attrelid = '%s'::regclass AND attnum > 0
                        """,
                        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '%s'::regclass",
                        """
                        SELECT reloptions, n_dead_tup, n_live_tup, pg_total_relation_size(c.oid)
                        FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = '%s'::regclass
                        """,
                        "SELECT count(*) FROM %s WHERE status = 1 AND locked_until < statement_timestamp()",
                        "SELECT min(processed_on) FROM %s WHERE status = 2",
                        "SELECT count(*) FROM %s WHERE status = 3",
                        DONE,
                        BLOCKED,
                        OLDEST_DUE,
                        "SELECT poller, seen_on FROM outbox_pollers"));
    }

    private static Scenario scenario(String name, String what, int times, Question ours, String... byHand) {
        return scenario(name, what, times, ours, Ask.byHand(byHand));
    }

    private static Scenario scenario(String name, String what, int times, Question ours, Question byHand) {
        return new Scenario(
                "admin-" + name,
                "How often %s per second, with 1,000,000 rows Done and 100,000 Dead in each table?".formatted(what),
                Metric.PER_SECOND,
                new Ask(Ask.OURS, ours, times),
                new Ask(Ask.BY_HAND, byHand, times));
    }

    private static Question list(DeadFilter filter) {
        return (pool, admin) -> found(admin.deadLetters().list(filter, FIFTY).items());
    }

    private static int found(List<Item> items) {
        return items.size();
    }
}
