package dev.outbox.postgres;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Sql;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The claim query, and the marks that keep its cost proportional to the batch.
 *
 * <p><b>Roads.</b> Unfinished rows wait on one of three roads, each with an index of its own. <i>Ready</i>:
 * no key, never attempted, due at once; in sequence order. <i>Waiting</i>: no key, delayed or given back; by
 * due time, so that what is not due is never looked at. <i>Keys</i>: a loose scan that jumps from key to
 * key, looks at the head of each, and skips a blocked key at the price of one probe, however many rows are
 * behind it.
 *
 * <p><b>Shares.</b> Rows with and without keys share a claim: while there are both, each gets half, and what
 * one does not need goes to the other; so do ready and waiting rows.
 *
 * <p><b>Priority.</b> The ready road has three bands, each with a mark of its own; bulk rows are left a tenth
 * of the room. Keys whose head is urgent are found by an index of their own and come first, as many as a claim
 * has room for; all keys go round; while there are both normal and bulk heads, a bulk head is passed by nine times in ten, at random,
 * so that none is passed by for ever. Waiting rows go by their due time alone.
 *
 * <p><b>Marks.</b> A dead index entry costs as much as a live one while an old snapshot keeps vacuum away.
 * So the ready and waiting roads are entered after the last row taken. Rows that commit late, below the
 * mark, are found by a sweep from the start, once a second; a sweep that turns out slow is made rarer, so
 * that sweeps take a twentieth of the time at most. A row that goes back to Ready gets a due time, so it
 * is never hidden by the ready mark. Keys have no mark, only a cursor that goes round: a mark would let
 * rows overtake the head of their key.
 *
 * <p><b>Locking.</b> READ COMMITTED. Rows are locked SKIP LOCKED before they are updated, so a claim waits
 * for nobody, and the CTEs are materialised, so that each is evaluated once. A row that another claim took
 * between our snapshot and our lock is rechecked by the lock itself ({@code status = 0}) and left out. A
 * key's head is locked first; its run is cut where a row of it could not be locked, so a run has no gap.
 * A key with a leased row, whatever row that is, is left alone. A head that was tried twice comes alone:
 * if it is what kills workers, no other row of its key shall pay for it.
 *
 * <p><b>Plans.</b> Statuses are literals, or the partial indexes could not serve. That a key has a leased row
 * is asked as {@code status >= 1 AND status < 2}: as {@code status = 1} the planner would like to read the
 * index of all leased rows instead, which statistics say is empty, and which is not.
 *
 * <p><b>Crashes.</b> The statement is its own transaction. If the answer is lost, the rows are leased to a
 * token nobody knows, and come back when the lease expires.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
final class PostgresClaim {
    /** With a topic filter: how many rows of each band one claim looks at; then it moves its mark past them. */
    private static final int STRETCH = 4_096;

    /** How many keys one claim looks at, as a multiple of the rows it wants. */
    private static final int PROBES_PER_ROW = 4;

    /** By the code of their priority. */
    private static final String[] BANDS = {"high", "normal", "bulk"};

    private static final Duration SWEEP_EVERY = Duration.ofSeconds(1);

    static final String CLAIM = """
            WITH RECURSIVE
            stretch AS MATERIALIZED (
                SELECT
                    (SELECT CASE WHEN count(*) = :stretch THEN max(sequence) END FROM (
                        SELECT {sequence} AS sequence FROM {table}
                        WHERE :topics::text[] IS NOT NULL
                          AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                          AND {priority} = 0 AND {sequence} > :high_mark
                        ORDER BY {sequence} LIMIT :stretch) high) AS high,
                    (SELECT CASE WHEN count(*) = :stretch THEN max(sequence) END FROM (
                        SELECT {sequence} AS sequence FROM {table}
                        WHERE :topics::text[] IS NOT NULL
                          AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                          AND {priority} = 1 AND {sequence} > :normal_mark
                        ORDER BY {sequence} LIMIT :stretch) normal) AS normal,
                    (SELECT CASE WHEN count(*) = :stretch THEN max(sequence) END FROM (
                        SELECT {sequence} AS sequence FROM {table}
                        WHERE :topics::text[] IS NOT NULL
                          AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                          AND {priority} = 2 AND {sequence} > :bulk_mark
                        ORDER BY {sequence} LIMIT :stretch) bulk) AS bulk
            ),
            urgent AS (
                SELECT (SELECT {message_key} FROM {table}
                        WHERE {status} = 0 AND {priority} = 0 AND {message_key} > ''
                        ORDER BY {message_key} LIMIT 1) AS key,
                    1 AS probe
                UNION ALL
                SELECT (SELECT {message_key} FROM {table}
                        WHERE {status} = 0 AND {priority} = 0 AND {message_key} > urgent.key
                        ORDER BY {message_key} LIMIT 1),
                    urgent.probe + 1
                FROM urgent WHERE urgent.key IS NOT NULL AND urgent.probe < :count
            ),
            keys AS (
                SELECT (SELECT {message_key} FROM {table}
                        WHERE {status} < 2 AND {message_key} > :key_cursor
                        ORDER BY {message_key} LIMIT 1) AS key,
                    1 AS probe
                UNION ALL
                SELECT (SELECT {message_key} FROM {table}
                        WHERE {status} < 2 AND {message_key} > keys.key
                        ORDER BY {message_key} LIMIT 1),
                    keys.probe + 1
                FROM keys WHERE keys.key IS NOT NULL AND keys.probe < :probes
            ),
            urgent_heads AS MATERIALIZED (
                SELECT urgent.key, head.id
                FROM urgent CROSS JOIN LATERAL (
                    SELECT {work_item_id} AS id, {due_on} AS due_on, {topic} AS topic, {priority} AS priority
                    FROM {table}
                    WHERE {status} = 0 AND {message_key} = urgent.key
                    ORDER BY {sequence} LIMIT 1) head
                WHERE head.priority = 0
                  AND (head.due_on IS NULL OR head.due_on <= statement_timestamp())
                  AND (:topics::text[] IS NULL OR (head.topic = ANY (:topics)) = :listed)
                  AND (SELECT true FROM {table}
                       WHERE {message_key} = urgent.key AND {status} >= 1 AND {status} < 2 LIMIT 1) IS NULL
                LIMIT :count
            ),
            heads AS MATERIALIZED (
                SELECT keys.key, head.id
                FROM keys CROSS JOIN LATERAL (
                    SELECT {work_item_id} AS id, {due_on} AS due_on, {topic} AS topic, {priority} AS priority
                    FROM {table}
                    WHERE {status} = 0 AND {message_key} = keys.key
                    ORDER BY {sequence} LIMIT 1) head
                WHERE (head.priority < 2 OR random() < :bulk_chance)
                  AND keys.key <> ALL (ARRAY(SELECT key FROM urgent_heads))
                  AND (head.due_on IS NULL OR head.due_on <= statement_timestamp())
                  AND (:topics::text[] IS NULL OR (head.topic = ANY (:topics)) = :listed)
                  AND (SELECT true FROM {table}
                       WHERE {message_key} = keys.key AND {status} >= 1 AND {status} < 2 LIMIT 1) IS NULL
                LIMIT :count
            ),
            keyed AS MATERIALIZED (
                SELECT CASE WHEN EXISTS (SELECT FROM urgent_heads) OR EXISTS (SELECT FROM heads)
                    THEN :count - (
                        SELECT count(*) FROM (
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 0 AND {sequence} > :high_mark
                               AND {sequence} <= COALESCE((SELECT high FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT (:count + :turn) / 2)
                            UNION ALL
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 1 AND {sequence} > :normal_mark
                               AND {sequence} <= COALESCE((SELECT normal FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT (:count + :turn) / 2)
                            UNION ALL
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 2 AND {sequence} > :bulk_mark
                               AND {sequence} <= COALESCE((SELECT bulk FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT (:count + :turn) / 2)
                            UNION ALL
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                               AND {due_on} >= :due_mark AND {due_on} <= statement_timestamp()
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT (:count + :turn) / 2)
                            LIMIT (:count + :turn) / 2) unkeyed)
                    ELSE 0 END AS room
            ),
            served_heads AS MATERIALIZED (
                SELECT id FROM urgent_heads LIMIT (SELECT room FROM keyed)
            ),
            taken_heads AS MATERIALIZED (
                SELECT key, id FROM heads
                LIMIT (SELECT room FROM keyed) - (SELECT count(*) FROM served_heads)
            ),
            locked_heads AS MATERIALIZED (
                SELECT {work_item_id} AS id, {message_key} AS key, {sequence} AS sequence,
                    {attempt_count} > 1 AS suspect
                FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM served_heads UNION ALL SELECT id FROM taken_heads))
                  AND {status} = 0 AND ({due_on} IS NULL OR {due_on} <= statement_timestamp())
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            planned AS MATERIALIZED (
                SELECT run.id, run.key, row_number() OVER next AS place, bool_and(run.eligible) OVER next AS eligible
                FROM locked_heads head CROSS JOIN LATERAL (
                    SELECT {work_item_id} AS id, {message_key} AS key, {sequence} AS sequence,
                        ({due_on} IS NULL OR {due_on} <= statement_timestamp())
                        AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed) AS eligible
                    FROM {table}
                    WHERE NOT head.suspect
                      AND {status} = 0 AND {message_key} = head.key AND {sequence} > head.sequence
                    ORDER BY {sequence}
                    LIMIT (SELECT room FROM keyed) / (SELECT GREATEST(count(*), 1) FROM locked_heads) - 1) run
                WINDOW next AS (PARTITION BY run.key ORDER BY run.sequence)
            ),
            locked_runs AS MATERIALIZED (
                SELECT {work_item_id} AS id, {message_key} AS key, {sequence} AS sequence FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM planned WHERE eligible))
                  AND {status} = 0 AND ({due_on} IS NULL OR {due_on} <= statement_timestamp())
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            runs AS MATERIALIZED (
                SELECT locked.id
                FROM (SELECT id, row_number() OVER (PARTITION BY key ORDER BY sequence) AS place
                      FROM locked_runs) locked
                JOIN planned ON planned.id = locked.id AND planned.place = locked.place
            ),
            unkeyed AS MATERIALIZED (
                SELECT :count - (SELECT count(*) FROM locked_heads) - (SELECT count(*) FROM runs) AS room
            ),
            waiting AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                  AND {due_on} >= :due_mark AND {due_on} <= statement_timestamp()
                  AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                ORDER BY {due_on}
                LIMIT CASE WHEN EXISTS (
                    SELECT FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                      AND {due_on} >= :due_mark AND {due_on} <= statement_timestamp())
                    THEN (SELECT room FROM unkeyed) - (
                        SELECT count(*) FROM (
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 0 AND {sequence} > :high_mark
                               AND {sequence} <= COALESCE((SELECT high FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT ((SELECT room FROM unkeyed) + :other_turn) / 2)
                            UNION ALL
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 1 AND {sequence} > :normal_mark
                               AND {sequence} <= COALESCE((SELECT normal FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT ((SELECT room FROM unkeyed) + :other_turn) / 2)
                            UNION ALL
                            (SELECT FROM {table}
                             WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                               AND {priority} = 2 AND {sequence} > :bulk_mark
                               AND {sequence} <= COALESCE((SELECT bulk FROM stretch), 9223372036854775807)
                               AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                             LIMIT ((SELECT room FROM unkeyed) + :other_turn) / 2)
                            LIMIT ((SELECT room FROM unkeyed) + :other_turn) / 2) ready)
                    ELSE 0 END
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            ready AS MATERIALIZED (
                SELECT room - (SELECT count(*) FROM waiting) AS room FROM unkeyed
            ),
            reserve AS MATERIALIZED (
                SELECT count(*) AS bulk FROM (
                    SELECT FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = 2 AND {sequence} > :bulk_mark
                      AND {sequence} <= COALESCE((SELECT bulk FROM stretch), 9223372036854775807)
                      AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                    LIMIT ((SELECT room FROM ready) + :tenth_turn) / 10) bulk
            ),
            high AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                  AND {priority} = 0 AND {sequence} > :high_mark
                  AND {sequence} <= COALESCE((SELECT high FROM stretch), 9223372036854775807)
                  AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                ORDER BY {sequence}
                LIMIT (SELECT room FROM ready) - (SELECT bulk FROM reserve)
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            normal AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                  AND {priority} = 1 AND {sequence} > :normal_mark
                  AND {sequence} <= COALESCE((SELECT normal FROM stretch), 9223372036854775807)
                  AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                ORDER BY {sequence}
                LIMIT (SELECT room FROM ready) - (SELECT bulk FROM reserve) - (SELECT count(*) FROM high)
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            bulk AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                  AND {priority} = 2 AND {sequence} > :bulk_mark
                  AND {sequence} <= COALESCE((SELECT bulk FROM stretch), 9223372036854775807)
                  AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                ORDER BY {sequence}
                LIMIT (SELECT room FROM ready) - (SELECT count(*) FROM high) - (SELECT count(*) FROM normal)
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            claimed AS (
                UPDATE {table} SET {status} = 1, {owner_token} = :token, {attempt_count} = {attempt_count} + 1,
                    {locked_until} = statement_timestamp() + :lease * interval '1 microsecond',
                    {processed_by} = :owner
                WHERE {work_item_id} = ANY (ARRAY(
                        SELECT id FROM locked_heads UNION ALL SELECT id FROM runs
                        UNION ALL SELECT id FROM waiting
                        UNION ALL SELECT id FROM high UNION ALL SELECT id FROM normal UNION ALL SELECT id FROM bulk))
                  AND {status} = 0
                RETURNING %s
            )
            SELECT statement_timestamp() AS at,
                stretch.high AS high_end, stretch.normal AS normal_end, stretch.bulk AS bulk_end,
                CASE WHEN (SELECT count(*) FROM taken_heads) < (SELECT count(*) FROM heads)
                       OR (SELECT count(*) FROM heads) = :count
                    THEN COALESCE((SELECT max(key) FROM taken_heads), :key_cursor)
                    ELSE (SELECT key FROM keys WHERE probe = :probes)
                END AS next_key_cursor,
                claimed.*
            FROM stretch LEFT JOIN claimed ON true
            """.formatted(WorkItemRow.COLUMNS);

    private final Sql claim;
    private final @Nullable PayloadSerializer serializer;
    private final LongSupplier ticker;

    /** What the marks are about; null before the first claim. */
    private @Nullable Set<String> topics;

    private Set<String> except = Set.of();

    /** How far the ready road was taken, by priority. */
    private final long[] readyMarks = new long[BANDS.length];

    private Instant dueMark = Instant.MIN;
    private String keyCursor = "";
    private boolean lapFound;
    private boolean lapOnlyBulk = true;

    /** Whether the last lap of the keys found no head but bulk; then bulk need not stand back. */
    private boolean onlyBulkKeys = true;

    /** Whether the last sweep, which may take several claims, has come to the end. */
    private boolean caughtUp;

    private long sweepStarted;
    private long sweptAt;
    private long sweepCost;
    private int turn;

    PostgresClaim(PostgresTable table, @Nullable PayloadSerializer serializer, LongSupplier ticker) {
        this.claim = table.layout().resolve(CLAIM);
        this.serializer = serializer;
        this.ticker = ticker;
    }

    /**
     * @param unreadable leased rows that cannot be read as messages, written by somebody else
     * @param more whether another claim right now may find rows
     */
    record Answer(String ownerToken, Instant at, List<WorkItem> items, List<Unreadable> unreadable, boolean more) {}

    record Unreadable(WorkItem item, String error) {}

    Answer run(Connection connection, ClaimRequest request) throws SQLException {
        long start = ticker.getAsLong();
        boolean otherTopics =
                !(request.topics().equals(topics) && request.except().equals(except));
        if (otherTopics || (caughtUp && start - sweptAt >= Math.max(SWEEP_EVERY.toNanos(), 20 * sweepCost))) {
            topics = request.topics();
            except = request.except();
            caughtUp = false;
            sweepStarted = start;
            Arrays.fill(readyMarks, Long.MIN_VALUE);
            dueMark = Instant.MIN;
        }
        turn++;
        boolean listed = !request.topics().isEmpty();
        Set<String> wanted = new HashSet<>(request.topics());
        wanted.removeAll(request.except());
        if (listed && wanted.isEmpty()) {
            return new Answer(UUID.randomUUID().toString(), Instant.EPOCH, List.of(), List.of(), false);
        }
        UUID token = UUID.randomUUID();
        Rows answer;
        try (Query query = FreshPlan.of(claim, connection)) {
            query.setArray("topics", "text", PostgresSource.topics(listed ? wanted : request.except()))
                    .set("listed", listed)
                    .set("high_mark", readyMarks[0])
                    .set("normal_mark", readyMarks[1])
                    .set("bulk_mark", readyMarks[2])
                    .set("due_mark", Timestamps.write(dueMark))
                    .set("key_cursor", keyCursor)
                    .set("stretch", STRETCH)
                    .set("probes", PROBES_PER_ROW * request.count())
                    .set("count", request.count())
                    .set("turn", turn & 1)
                    .set("other_turn", turn >> 1 & 1)
                    .set("tenth_turn", turn % 10)
                    .set("bulk_chance", onlyBulkKeys ? 1.0 : 0.1)
                    .set("token", token)
                    .set("lease", request.lease())
                    .set("owner", request.owner());
            try (ResultSet rows = query.rows()) {
                answer = read(rows);
            }
        }
        boolean lapEmpty = goOn(answer);
        int taken = answer.items.size() + answer.unreadable.size();
        boolean stretchDone = true;
        for (int band = 0; band < BANDS.length; band++) {
            Long end = answer.stretchEnds.get(band);
            stretchDone &= end == null;
            if (end != null && taken < request.count()) {
                readyMarks[band] = Math.max(readyMarks[band], end);
            }
        }
        if (stretchDone && !caughtUp) {
            caughtUp = true;
            sweptAt = ticker.getAsLong();
            sweepCost = sweptAt - sweepStarted;
        }
        boolean more = taken > 0 || !lapEmpty || !stretchDone;
        return new Answer(token.toString(), answer.at, answer.items, answer.unreadable, more);
    }

    /**
     * Moves the key cursor on; at the end it starts again.
     *
     * @return whether a whole lap has found nothing
     */
    private boolean goOn(Rows answer) {
        lapFound |= answer.keyed > 0;
        lapOnlyBulk &= answer.onlyBulkKeys;
        if (answer.keyCursor != null) {
            keyCursor = answer.keyCursor;
            return false;
        }
        boolean empty = !lapFound && onlyBulkKeys;
        keyCursor = "";
        onlyBulkKeys = lapOnlyBulk;
        lapFound = false;
        lapOnlyBulk = true;
        return empty;
    }

    private record Rows(
            Instant at,
            List<@Nullable Long> stretchEnds,
            @Nullable String keyCursor,
            List<WorkItem> items,
            List<Unreadable> unreadable,
            int keyed,
            boolean onlyBulkKeys) {}

    /** The first columns stand in every row; the rest is null in the one row of an empty claim. */
    private Rows read(ResultSet rows) throws SQLException {
        List<WorkItem> items = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        int keyed = 0;
        boolean onlyBulk = true;
        rows.next();
        Instant at = Timestamps.read(rows, "at");
        List<@Nullable Long> stretchEnds = new ArrayList<>();
        for (String band : BANDS) {
            stretchEnds.add(rows.getObject(band + "_end", Long.class));
        }
        String cursor = rows.getString("next_key_cursor");
        boolean found = rows.getString(WorkItemRow.ID) != null;
        while (found) {
            try {
                items.add(WorkItemRow.read(rows, serializer));
            } catch (RuntimeException e) {
                unreadable.add(new Unreadable(WorkItemRow.named(rows), String.valueOf(e.getMessage())));
            }
            if (rows.getString("message_key") == null) {
                Instant due = Timestamps.readOptional(rows, "due_on");
                if (due == null) {
                    int band = rows.getInt("priority");
                    readyMarks[band] = Math.max(readyMarks[band], rows.getLong("sequence"));
                } else if (due.isAfter(dueMark)) {
                    dueMark = due;
                }
            } else {
                keyed++;
                onlyBulk &= rows.getInt("priority") == 2;
            }
            found = rows.next();
        }
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        return new Rows(at, stretchEnds, cursor, items, unreadable, keyed, onlyBulk);
    }
}
