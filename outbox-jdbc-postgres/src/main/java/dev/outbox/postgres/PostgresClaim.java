package dev.outbox.postgres;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimProgress;
import dev.outbox.jdbc.internal.claim.ClaimQueue;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Topics;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Unreadable;
import dev.outbox.jdbc.internal.claim.LowWaterMarks;
import dev.outbox.jdbc.internal.claim.QueueTurns;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim query, one statement per queue.
 *
 * <p><b>Queues.</b> Unfinished rows wait on one of three queues, each with an index of its own. <i>Ready</i>:
 * no key, never attempted, due at once; in sequence order. <i>Waiting</i>: no key, delayed or given back; by
 * due time, so that what is not due is never looked at. <i>Keys</i>: {@link PostgresKeyClaim}.
 *
 * <p><b>Turns.</b> A claim asks one queue, and the next one only if that was empty; {@link QueueTurns} sees to it that
 * all queues are asked. What one queue has is delivered at once: it does not wait for the others.
 *
 * <p><b>Bytes.</b> What was picked and locked is counted in order, and a row is taken while those before it have fewer
 * bytes than the claim may have. So the first row always comes, one above the bound comes alone when it is first, and no
 * flow of small rows keeps a large one waiting. In that order urgent rows come before normal ones and those before bulk,
 * but in one claim of ten bulk comes first, and in one of four normal. {@code octet_length} knows the size of a
 * toasted value without reading it. Mostly the bytes suffice for all, and then nothing is put in order or counted one by
 * one. A claim that was cut says so: it had no room, so the marks stay at what was taken.
 *
 * <p><b>Priority.</b> There are three bands: bulk's tenth of the batch first, then urgent rows up to their share, which
 * leaves normal ones a quarter, then normal ones, urgent ones again, and bulk again. Rows are locked as they are picked,
 * and no more are picked than there is room.
 *
 * <p><b>Marks.</b> {@link LowWaterMarks} keeps these queues from walking what has passed.
 *
 * <p><b>Locking.</b> READ COMMITTED. Rows are locked SKIP LOCKED before they are updated, so a claim waits
 * for nobody, and the CTEs are materialised, so that each is evaluated once. A row that another claim took
 * between our snapshot and our lock is rechecked by the lock itself ({@code status = 0}) and left out. Rows are updated
 * where they were locked, by {@code ctid}: one that changed meanwhile is missed this time.
 *
 * <p><b>Crashes.</b> If the answer is lost, the rows are leased to a token nobody knows, and come back when
 * the lease expires. A claim's commit does not wait for the disk: a crash of the database may undo it, and what was
 * delivered on its strength comes again.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
final class PostgresClaim implements ClaimStatement {
    static final String READY = """
            WITH picked AS MATERIALIZED (
                SELECT item.place, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 5 END), (0, :high_share, 0, 2),
                    (1, :count, 0, CASE WHEN :normal_first THEN 1 ELSE 3 END), (0, :count, :high_share, 4),
                    (2, :count, :tenth, 6)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = turn.band AND {sequence} > (:ready_marks::bigint[])[turn.band + 1]
                      AND {sequence} <= (:ready_ends::bigint[])[turn.band + 1]
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
            UPDATE {table} SET {status = 1}, {owner_token = :token}, {attempt_count = {attempt_count} + 1},
                {locked_until = now() + :lease * interval '1 microsecond'}, {processed_by = :owner}
            WHERE ctid = ANY ((
                SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
              AND {status} = 0
            RETURNING
            """ + WorkItemRow.COLUMNS + """
            , CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut
            """;

    /** The same where only some topics are wanted: of each band it looks at a stretch, and answers where that ends. */
    static final String READY_OF_TOPICS = """
            WITH stretch AS MATERIALIZED (
                SELECT band, (
                    SELECT {sequence} FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = band AND {sequence} > (:ready_marks::bigint[])[band + 1]
                      AND {sequence} <= (:ready_ends::bigint[])[band + 1]
                    ORDER BY {sequence} OFFSET :stretch - 1 LIMIT 1) AS sequence
                FROM generate_series(0, 2) band
            ),
            picked AS MATERIALIZED (
                SELECT item.place, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 5 END), (0, :high_share, 0, 2),
                    (1, :count, 0, CASE WHEN :normal_first THEN 1 ELSE 3 END), (0, :count, :high_share, 4),
                    (2, :count, :tenth, 6)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = turn.band AND {sequence} > (:ready_marks::bigint[])[turn.band + 1]
                      AND {sequence} <= COALESCE(
                        (SELECT sequence FROM stretch WHERE band = turn.band), (:ready_ends::bigint[])[turn.band + 1])
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
                UPDATE {table} SET {status = 1}, {owner_token = :token}, {attempt_count = {attempt_count} + 1},
                    {locked_until = now() + :lease * interval '1 microsecond'}, {processed_by = :owner}
                WHERE ctid = ANY ((
                    SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
                  AND {status} = 0
                RETURNING
            """ + WorkItemRow.COLUMNS + """
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
            """;

    static final String WAITING = """
            WITH picked AS MATERIALIZED (
                SELECT item.place, item.due_on, item.sequence, item.size, turn.place AS turn
                FROM (VALUES (2, :tenth, 0, CASE WHEN :bulk_first THEN 1 ELSE 5 END), (0, :high_share, 0, 2),
                    (1, :count, 0, CASE WHEN :normal_first THEN 1 ELSE 3 END), (0, :count, :high_share, 4),
                    (2, :count, :tenth, 6)) AS turn(band, most, passed, place)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, {due_on} AS due_on, {sequence} AS sequence,
                        COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                      AND {priority} = turn.band AND {due_on} <= now() AND {due_on} <= (:due_ends::timestamptz[])[turn.band + 1]
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
            UPDATE {table} SET {status = 1}, {owner_token = :token}, {attempt_count = {attempt_count} + 1},
                {locked_until = now() + :lease * interval '1 microsecond'}, {processed_by = :owner}
            WHERE ctid = ANY ((
                SELECT CASE WHEN suffice THEN places ELSE ARRAY(SELECT place FROM sized WHERE fits) END FROM bytes)::tid[])
              AND {status} = 0
            RETURNING
            """ + WorkItemRow.COLUMNS + """
            , CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut
            """;

    private final PinnedPlan ready;
    private final PinnedPlan readyOfTopics;
    private final PinnedPlan waiting;
    private final PostgresKeyClaim keys;
    private final @Nullable PayloadSerializer serializer;
    private final ClaimProgress.ByTopics progress;
    private ClaimProgress now;

    PostgresClaim(PostgresTable table, SourceSettings settings) {
        this.ready = PinnedPlan.unflushed(table.own(), List.of(READY));
        this.readyOfTopics = PinnedPlan.unflushed(table.own(), List.of(READY_OF_TOPICS));
        this.waiting = PinnedPlan.unflushed(table.own(), List.of(WAITING));
        this.keys = new PostgresKeyClaim(table, settings.serializer(), settings.ticker());
        this.serializer = settings.serializer();
        this.progress = new ClaimProgress.ByTopics(
                settings.ticker(), new PostgresMarks(), settings.freed(), settings.arrivals());
        this.now = progress.of(new Topics(Set.of(), false));
    }

    @Override
    public ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException {
        Topics topics = Topics.of(request);
        if (topics.areNone()) {
            return ClaimedRows.nothing();
        }
        now = progress.of(topics);
        return now.turns()
                .walk(queue -> queue == ClaimQueue.KEYS
                        ? keys.run(connection, request, topics, now.keys())
                        : now.marks().walk(queue, one -> walk(one, connection, request, topics)));
    }

    static void set(Query query, Topics topics) throws SQLException {
        query.setArray("topics", "text", names(topics.names())).set("listed", topics.listed());
    }

    /** @return null if there are none: then all topics are wanted */
    static Object @Nullable [] names(Set<String> topics) {
        return topics.isEmpty() ? null : topics.toArray();
    }

    private ClaimedRows walk(ClaimQueue queue, Connection connection, ClaimRequest request, Topics topics)
            throws SQLException {
        UUID token = UUID.randomUUID();
        PinnedPlan statement = queue == ClaimQueue.WAITING ? waiting : topics.areAll() ? ready : readyOfTopics;
        return statement.run(
                connection,
                query -> {
                    query.set("count", request.count())
                            .set("max_bytes", request.maxBytes())
                            .set("token", token)
                            .set("lease", request.lease())
                            .set("owner", request.owner());
                    if (queue == ClaimQueue.READY) {
                        now.marks().setReady(query, request.count());
                    } else {
                        now.marks().setDue(query, request.count());
                    }
                    if (statement == readyOfTopics) {
                        now.marks().setStretch(query);
                    }
                    if (statement != ready) {
                        set(query, topics);
                    }
                },
                results -> read(queue, results, token, request.count(), statement == readyOfTopics));
    }

    private ClaimedRows read(ClaimQueue queue, PinnedPlan.Results results, UUID token, int count, boolean ofStretch)
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
            for (; found && rows.getString(WorkItemRow.ID) != null; found = rows.next()) {
                now.marks().took(rows);
                ClaimedRows.read(rows, serializer, items, unreadable);
            }
        }
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        int taken = items.size() + unreadable.size();
        boolean hadRoom = taken < count && !cut;
        boolean walkedAll = queue == ClaimQueue.READY
                ? now.marks().end(hadRoom)
                : now.marks().endDue(hadRoom, results.at());
        return new ClaimedRows(token.toString(), results.at(), items, unreadable, !hadRoom || !walkedAll);
    }
}
