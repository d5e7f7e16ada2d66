package dev.outbox.postgres;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.ClaimProgress;
import dev.outbox.jdbc.internal.Claimed;
import dev.outbox.jdbc.internal.Claimed.Topics;
import dev.outbox.jdbc.internal.Claimed.Unreadable;
import dev.outbox.jdbc.internal.Claiming;
import dev.outbox.jdbc.internal.Marks;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Turns;
import dev.outbox.jdbc.internal.WorkItemRow;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The claim query, one statement per road.
 *
 * <p><b>Roads.</b> Unfinished rows wait on one of three roads, each with an index of its own. <i>Ready</i>:
 * no key, never attempted, due at once; in sequence order. <i>Waiting</i>: no key, delayed or given back; by
 * due time, so that what is not due is never looked at. <i>Keys</i>: a loose scan that jumps from key to
 * key. The first index entry of a key tells all: a Dead row that blocks it, else a leased row, else its head;
 * so a key that cannot be claimed costs one probe, however many rows are behind it.
 *
 * <p><b>Turns.</b> A claim asks one road, and the next one only if that was empty; {@link Turns} sees to it that
 * all roads are asked. What one road has is delivered at once: it does not wait for the others.
 *
 * <p><b>Bytes.</b> What was picked and locked is counted in order, and a row is taken while those before it have fewer
 * bytes than the claim may have. So the first row always comes, one above the bound comes alone when it is first, and no
 * flow of small rows keeps a large one waiting. In that order urgent rows come before normal ones and those before bulk,
 * and in one claim of ten bulk comes first; of keys, urgent heads by their age, then the others in the order of the round,
 * in one claim of ten the others first, and then the rows behind the heads. {@code octet_length} knows the size of a
 * toasted value without reading it. Mostly the bytes suffice for all, and then nothing is put in order or counted one by
 * one. A claim that was cut says so: it had no room, so the marks and the cursor stay at what
 * was taken.
 *
 * <p><b>Priority.</b> The first two roads have three bands: bulk's tenth of the batch first, then urgent rows,
 * normal ones, and bulk again. Rows are locked as they are picked, and no more are picked than there is room.
 * Keys whose head is urgent are found by an index of their own and come first; all keys go round; while there
 * are both normal and bulk heads, a bulk head is passed by nine times in ten, at random, so that none is passed
 * by for ever.
 *
 * <p><b>Marks.</b> {@link Marks} keeps the first two roads from walking what has passed. Keys have no mark,
 * only a cursor that goes round ({@link dev.outbox.jdbc.internal.KeyTour}): a mark would let rows overtake the head of their key.
 *
 * <p><b>Locking.</b> READ COMMITTED. Rows are locked SKIP LOCKED before they are updated, so a claim waits
 * for nobody, and the CTEs are materialised, so that each is evaluated once. A row that another claim took
 * between our snapshot and our lock is rechecked by the lock itself ({@code status = 0}) and left out. A
 * key's head is locked first, then its run; if a row of that could not be locked, the head comes alone, so a run
 * has no gap. Rows without a key are updated where they were locked, by {@code ctid}: one that somebody changed
 * meanwhile is missed this time. A run must miss none, so rows with a key are updated by their id. A head that was
 * tried twice comes alone: if it is what kills workers, no other row of its key shall pay for it.
 *
 * <p><b>Crashes.</b> If the answer is lost, the rows are leased to a token nobody knows, and come back when
 * the lease expires. A claim's commit does not wait for the disk: a crash of the database may undo it, and what was
 * delivered on its strength comes again.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
final class PostgresClaim implements Claiming.Query {
    static final String READY = """
            WITH picked AS MATERIALIZED (
                SELECT item.place, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 4 END), (0, :count, 0, 2),
                    (1, :count, 0, 3), (2, :count, :tenth, 5)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = turn.band AND {sequence} > (:ready_marks::bigint[])[turn.band + 1]
                    ORDER BY {sequence} LIMIT turn.most OFFSET turn.passed
                    FOR NO KEY UPDATE SKIP LOCKED) item
                LIMIT :count
            ),
            bytes AS MATERIALIZED (
                SELECT sum(size) < :max_bytes AS suffice, array_agg(place) AS places FROM picked
            ),
            sized AS MATERIALIZED (
                SELECT place,
                    sum(size) OVER (ORDER BY turn, sequence ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM picked
            )
            UPDATE {table} SET {status} = 1, {owner_token} = :token, {attempt_count} = {attempt_count} + 1,
                {locked_until} = now() + :lease * interval '1 microsecond', {processed_by} = :owner
            WHERE ctid = ANY ((
                SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
              AND {status} = 0
            RETURNING %1$s,
                CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut
            """.formatted(WorkItemRow.COLUMNS);

    /** The same where only some topics are wanted: of each band it looks at a stretch, and answers where that ends. */
    static final String READY_OF_TOPICS = """
            WITH stretch AS MATERIALIZED (
                SELECT band, (
                    SELECT {sequence} FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = band AND {sequence} > (:ready_marks::bigint[])[band + 1]
                    ORDER BY {sequence} OFFSET :stretch - 1 LIMIT 1) AS sequence
                FROM generate_series(0, 2) band
            ),
            picked AS MATERIALIZED (
                SELECT item.place, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 4 END), (0, :count, 0, 2),
                    (1, :count, 0, 3), (2, :count, :tenth, 5)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = turn.band AND {sequence} > (:ready_marks::bigint[])[turn.band + 1]
                      AND {sequence} <= COALESCE((SELECT sequence FROM stretch WHERE band = turn.band), 9223372036854775807)
                      AND ({topic} = ANY (:topics)) = :listed
                    ORDER BY {sequence} LIMIT turn.most OFFSET turn.passed
                    FOR NO KEY UPDATE SKIP LOCKED) item
                LIMIT :count
            ),
            bytes AS MATERIALIZED (
                SELECT sum(size) < :max_bytes AS suffice, array_agg(place) AS places FROM picked
            ),
            sized AS MATERIALIZED (
                SELECT place,
                    sum(size) OVER (ORDER BY turn, sequence ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM picked
            ),
            claimed AS (
                UPDATE {table} SET {status} = 1, {owner_token} = :token, {attempt_count} = {attempt_count} + 1,
                    {locked_until} = now() + :lease * interval '1 microsecond', {processed_by} = :owner
                WHERE ctid = ANY ((
                    SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
                  AND {status} = 0
                RETURNING %1$s
            )
            SELECT claimed.*,
                CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut,
                walked.high_end, walked.normal_end, walked.bulk_end
            FROM (
                SELECT max(sequence) FILTER (WHERE band = 0) AS high_end,
                    max(sequence) FILTER (WHERE band = 1) AS normal_end,
                    max(sequence) FILTER (WHERE band = 2) AS bulk_end
                FROM stretch) walked
            LEFT JOIN claimed ON true
            """.formatted(WorkItemRow.COLUMNS);

    static final String WAITING = """
            WITH picked AS MATERIALIZED (
                SELECT item.place, item.due_on, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 4 END), (0, :count, 0, 2),
                    (1, :count, 0, 3), (2, :count, :tenth, 5)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {due_on} AS due_on, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                      AND {priority} = turn.band AND {due_on} <= now()
                      AND ({due_on}, {sequence}) > ((:due_marks::timestamptz[])[turn.band + 1], (:due_sequences::bigint[])[turn.band + 1])
                      AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                    ORDER BY {due_on}, {sequence} LIMIT turn.most OFFSET turn.passed
                    FOR NO KEY UPDATE SKIP LOCKED) item
                LIMIT :count
            ),
            bytes AS MATERIALIZED (
                SELECT sum(size) < :max_bytes AS suffice, array_agg(place) AS places FROM picked
            ),
            sized AS MATERIALIZED (
                SELECT place,
                    sum(size) OVER (ORDER BY turn, due_on, sequence ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM picked
            )
            UPDATE {table} SET {status} = 1, {owner_token} = :token, {attempt_count} = {attempt_count} + 1,
                {locked_until} = now() + :lease * interval '1 microsecond', {processed_by} = :owner
            WHERE ctid = ANY ((
                SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
              AND {status} = 0
            RETURNING %1$s,
                CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut
            """.formatted(WorkItemRow.COLUMNS);

    static final String KEYS = """
            WITH RECURSIVE
            urgent AS (
                (SELECT {message_key} AS key, 1 AS probe FROM {table}
                 WHERE {mine} AND {status} = 0 AND {priority} = 0 AND {message_key} > ''
                 ORDER BY {message_key} LIMIT 1)
                UNION ALL
                SELECT next.key, urgent.probe + 1
                FROM urgent CROSS JOIN LATERAL (
                    SELECT {message_key} AS key FROM {table}
                    WHERE {mine} AND {status} = 0 AND {priority} = 0 AND {message_key} > urgent.key
                    ORDER BY {message_key} LIMIT 1) next
                WHERE urgent.probe < :count
            ),
            keys AS (
                (SELECT {message_key} AS key, {work_item_id} AS id, {status} AS status, {due_on} AS due_on,
                    {topic} AS topic, {priority} AS priority, 1 AS probe
                 FROM {table} WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key}) AND {message_key} > :key_cursor
                 ORDER BY {message_key}, {status} DESC, {sequence} LIMIT 1)
                UNION ALL
                SELECT next.key, next.id, next.status, next.due_on, next.topic, next.priority, keys.probe + 1
                FROM keys CROSS JOIN LATERAL (
                    SELECT {message_key} AS key, {work_item_id} AS id, {status} AS status, {due_on} AS due_on,
                        {topic} AS topic, {priority} AS priority
                    FROM {table} WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key}) AND {message_key} > keys.key
                    ORDER BY {message_key}, {status} DESC, {sequence} LIMIT 1) next
                WHERE keys.probe < :probes
            ),
            heads AS MATERIALIZED (
                SELECT first.key, first.id, first.goes_round
                FROM (
                    (SELECT urgent.key, head.id, head.status, head.due_on, head.topic, false AS goes_round
                    FROM urgent CROSS JOIN LATERAL (
                        SELECT {work_item_id} AS id, {status} AS status, {due_on} AS due_on, {topic} AS topic,
                            {priority} AS priority
                        FROM {table} WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key}) AND {message_key} = urgent.key
                        ORDER BY {status} DESC, {sequence} LIMIT 1) head
                    WHERE head.priority = 0 AND head.status = 0
                      AND (head.due_on IS NULL OR head.due_on <= now())
                      AND (:topics::text[] IS NULL OR (head.topic = ANY (:topics)) = :listed)
                    LIMIT :urgent_heads)
                    UNION ALL
                    SELECT key, id, status, due_on, topic, true FROM keys
                    WHERE priority < 2 OR random() < :bulk_chance) first
                WHERE first.status = 0 AND (first.due_on IS NULL OR first.due_on <= now())
                  AND (:topics::text[] IS NULL OR (first.topic = ANY (:topics)) = :listed)
                LIMIT :heads
            ),
            locked_heads AS MATERIALIZED (
                SELECT {work_item_id} AS id, {message_key} AS key, {sequence} AS sequence,
                    {attempt_count} > 1 AS suspect, {priority} AS priority,
                    COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM heads)) AND {topic} IS NOT NULL
                  AND {status} = 0 AND ({due_on} IS NULL OR {due_on} <= now())
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            runs AS MATERIALIZED (
                SELECT CASE WHEN run.locked = (
                        SELECT count(*) FROM {table}
                        WHERE {mine} AND {status} = 0 AND {message_key} = head.key
                          AND {sequence} > head.sequence AND {sequence} <= run.last)
                    THEN run.ids[:COALESCE(array_position(run.eligible, false), run.locked + 1) - 1] END AS ids,
                    run.sizes, run.size
                FROM locked_heads head CROSS JOIN LATERAL (
                    SELECT array_agg(later.id) AS ids, array_agg(later.size) AS sizes, sum(later.size) AS size,
                        array_agg(later.eligible) AS eligible, count(*)::int AS locked, max(later.sequence) AS last
                    FROM (
                        SELECT {work_item_id} AS id, {sequence} AS sequence,
                            COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size,
                            ({due_on} IS NULL OR {due_on} <= now())
                            AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed) AS eligible
                        FROM {table}
                        WHERE NOT head.suspect AND {mine}
                          AND {status} = 0 AND {message_key} = head.key AND {sequence} > head.sequence
                        ORDER BY {sequence}
                        LIMIT GREATEST(:longest_run, :count / (SELECT GREATEST(count(*), 1) FROM locked_heads)) - 1
                        FOR NO KEY UPDATE SKIP LOCKED) later) run
            ),
            bytes AS MATERIALIZED (
                SELECT COALESCE(sum(size), 0) + COALESCE((SELECT sum(size) FROM runs), 0) < :max_bytes AS suffice
                FROM locked_heads
            ),
            sized AS MATERIALIZED (
                SELECT id, key, turn, sum(size) OVER (ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM (
                    (SELECT id, size, key, CASE
                            WHEN priority = 0 AND key <= (SELECT max(key) FROM heads WHERE NOT goes_round) THEN sequence
                            ELSE :round_turn END AS turn
                    FROM locked_heads ORDER BY turn, key)
                    UNION ALL
                    SELECT id, size, NULL, NULL
                    FROM (SELECT unnest(ids) AS id, unnest(sizes) AS size FROM runs) later WHERE id IS NOT NULL
                    LIMIT :count) picked
            ),
            left_behind AS MATERIALIZED (
                SELECT min(key) AS key FROM sized WHERE NOT fits AND turn = :round_turn
            ),
            walked AS MATERIALIZED (
                SELECT set_config('outbox.key', COALESCE(
                    CASE WHEN NOT (SELECT suffice FROM bytes) AND (SELECT key FROM left_behind) IS NOT NULL
                            THEN COALESCE((
                                SELECT max(key) FROM heads WHERE goes_round AND key < (SELECT key FROM left_behind)), :key_cursor)
                        WHEN count(*) = :heads THEN COALESCE(max(key) FILTER (WHERE goes_round), :key_cursor)
                        ELSE (SELECT key FROM keys WHERE probe = :probes) END, ''), true) AS to_key
                FROM heads
            )
            UPDATE {table} SET {status} = 1, {owner_token} = :token, {attempt_count} = {attempt_count} + 1,
                {locked_until} = now() + :lease * interval '1 microsecond', {processed_by} = :owner,
                {blocks_key} = false
            WHERE {work_item_id} = ANY (CASE WHEN (SELECT suffice FROM bytes)
                THEN ARRAY(SELECT id FROM locked_heads UNION ALL SELECT unnest(ids) FROM runs LIMIT :count)
                ELSE ARRAY(SELECT id FROM sized WHERE fits) END)
              AND {topic} IS NOT NULL AND {status} = 0
              AND (SELECT to_key FROM walked) IS NOT NULL
            RETURNING %1$s,
                CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut,
                CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN (SELECT key FROM left_behind) IS NOT NULL END AS heads_cut
            """.formatted(WorkItemRow.COLUMNS);

    /** The last key that the statement before looked at; empty at the end of the round. */
    static final String WALKED = "SELECT current_setting('outbox.key') AS to_key";

    private final PinnedPlan ready;
    private final PinnedPlan readyOfTopics;
    private final PinnedPlan waiting;
    private final PinnedPlan keys;
    private final @Nullable PayloadSerializer serializer;
    private final ClaimProgress.ByTopics progress;
    private ClaimProgress now;

    PostgresClaim(PostgresTable table, @Nullable PayloadSerializer serializer, LongSupplier ticker) {
        this.ready = PinnedPlan.unflushed(table.own(), List.of(READY));
        this.readyOfTopics = PinnedPlan.unflushed(table.own(), List.of(READY_OF_TOPICS));
        this.waiting = PinnedPlan.unflushed(table.own(), List.of(WAITING));
        this.keys = PinnedPlan.unflushed(table.own(), List.of(KEYS, WALKED));
        this.serializer = serializer;
        this.progress = new ClaimProgress.ByTopics(ticker, new PostgresMarks());
        this.now = progress.of(new Topics(Set.of(), false));
    }

    @Override
    public Claimed run(Connection connection, ClaimRequest request) throws SQLException {
        Topics topics = Topics.of(request);
        if (topics.areNone()) {
            return Claimed.nothing();
        }
        now = progress.of(topics);
        now.marks().begin(request);
        return now.turns().walk(road -> walk(road, connection, request, topics));
    }

    static void set(Query query, Topics topics) throws SQLException {
        query.setArray("topics", "text", PostgresSource.topics(topics.names())).set("listed", topics.listed());
    }

    private Claimed walk(Turns.Road road, Connection connection, ClaimRequest request, Topics topics)
            throws SQLException {
        UUID token = UUID.randomUUID();
        PinnedPlan statement = switch (road) {
            case READY -> topics.areAll() ? ready : readyOfTopics;
            case WAITING -> waiting;
            case KEYS -> keys;
        };
        return statement.run(
                connection,
                query -> {
                    query.set("count", request.count())
                            .set("max_bytes", request.maxBytes())
                            .set("token", token)
                            .set("lease", request.lease())
                            .set("owner", request.owner());
                    switch (road) {
                        case READY -> now.marks().setReady(query, request.count());
                        case WAITING -> now.marks().setDue(query, request.count());
                        case KEYS -> now.tour().set(query, request.count());
                    }
                    if (statement == readyOfTopics) {
                        now.marks().setStretch(query);
                    }
                    if (statement != ready) {
                        set(query, topics);
                    }
                },
                results -> read(road, results, token, request.count(), statement == readyOfTopics));
    }

    private Claimed read(Turns.Road road, PinnedPlan.Results results, UUID token, int count, boolean ofStretch)
            throws SQLException {
        List<WorkItem> items = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        boolean cut;
        try (ResultSet rows = results.next()) {
            boolean found = rows.next();
            if (ofStretch) {
                now.marks().walked(rows);
            }
            cut = found && rows.getBoolean("cut");
            if (cut && road == Turns.Road.KEYS) {
                now.tour().cut(rows);
            }
            for (; found && rows.getString(WorkItemRow.ID) != null; found = rows.next()) {
                if (road == Turns.Road.KEYS) {
                    now.tour().took(rows);
                } else {
                    now.marks().took(rows);
                }
                Claimed.read(rows, serializer, items, unreadable);
            }
        }
        if (road == Turns.Road.KEYS) {
            try (ResultSet walked = results.next()) {
                walked.next();
                now.tour().walked(walked.getString("to_key"));
            }
        }
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        int taken = items.size() + unreadable.size();
        boolean hadRoom = taken < count && !cut;
        boolean walkedAll = switch (road) {
            case READY -> now.marks().end(hadRoom);
            case WAITING -> now.marks().endDue(hadRoom, results.at());
            case KEYS -> now.tour().end(count);
        };
        return new Claimed(token.toString(), results.at(), items, unreadable, taken > 0 || !walkedAll);
    }
}
