package dev.outbox.postgres;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Topics;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Unreadable;
import dev.outbox.jdbc.internal.claim.FreedKeys.Hint;
import dev.outbox.jdbc.internal.claim.KeyScan;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import dev.outbox.spi.ClaimRequest;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Claims items with a key: one statement finds heads that can be claimed, a second one takes them and the rows behind them.
 * Both go in one round trip.
 *
 * <p><b>Where it looks.</b> {@link KeyScan} names up to three places, in turns: rows that have arrived since the last claim,
 * rows whose time has come, and keys that this source has just freed. Keys that wait for a later time are in none of them, so a
 * million of them cost nothing.
 *
 * <p><b>What decides.</b> The first entry of a key in the index of the keys tells all: a Dead row that blocks it, else a
 * leased row, else its head. So a key that cannot be claimed costs one probe, however many rows are behind it. A key that
 * this source has just freed is looked at from its {@linkplain dev.outbox.jdbc.internal.claim.FreedKeys lower bound} on, in three
 * probes, so that it does not pass the entries of all that the key had before.
 *
 * <p><b>Locking.</b> READ COMMITTED. Heads are locked first, then their runs, all SKIP LOCKED, so a claim waits for nobody.
 * A head that another claim took after it was found fails the recheck ({@code status = 0}). If a row of a run could not be
 * locked, the head comes alone, so a run has no gap; rows are updated by their id, because a run must miss none. A head
 * that was tried twice comes alone: if it kills its workers, no other row of its key pays for it.
 *
 * <p><b>Bytes.</b> Heads are counted in the order in which they were found, then the rows behind them, so that a run stays a
 * prefix of its key. Marks do not move if a claim was cut before its last key: what it left is found again.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
final class PostgresKeyClaim {
    /**
     * Finds heads that can be claimed and keeps their ids for the next statement; answers how far it looked. Rows that
     * arrived are looked at by priority, nine urgent ones to three normal ones to one of bulk. If it was full, it has looked
     * at all of the places before the last one that had heads, and at that one up to the last head. Rows of topics that are not
     * wanted are passed: they cannot be heads.
     */
    static final String FIND = """
            WITH arrived AS MATERIALIZED (
                SELECT band, item.key, item.sequence, item.wanted, item.rank,
                    CASE WHEN band = :first_band AND item.rank = 1 THEN 0
                        ELSE item.rank * (ARRAY[1, 3, 9])[band + 1] * 3 + band END AS nth
                FROM generate_series(0, 2) band CROSS JOIN LATERAL (
                    SELECT next.*, row_number() OVER () AS rank FROM (
                        SELECT {message_key} AS key, {sequence} AS sequence,
                            :topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed AS wanted
                        FROM {table}
                        WHERE {mine} AND {status} = 0 AND {message_key} IS NOT NULL AND {due_on} IS NULL
                          AND {priority} = band AND {sequence} > (:arrived_after::bigint[])[band + 1]
                          AND {sequence} <= (:arrived_up_to::bigint[])[band + 1]
                        ORDER BY {sequence} LIMIT :stretch) next) item
            ),
            due AS MATERIALIZED (
                SELECT item.*, row_number() OVER () AS nth FROM (
                    SELECT {message_key} AS key, {due_on} AS due_on, {sequence} AS sequence,
                        :topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed AS wanted
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NOT NULL AND {due_on} IS NOT NULL
                      AND {due_on} <= now() AND ({due_on}, {sequence}) > (:due_after::timestamptz, :due_sequence)
                      AND {due_on} <= :due_up_to::timestamptz
                    ORDER BY {due_on}, {sequence} LIMIT :stretch) item
            ),
            heads AS MATERIALIZED (
                SELECT first.key, first.id, turn.place, first.nth
                FROM unnest(:places::int[]) AS turn(place) CROSS JOIN LATERAL (
                    SELECT found.key, head.id, head.status, head.due_on, head.topic, found.nth
                    FROM (
                        SELECT key, 0 AS nth FROM unnest(:freed_keys::text[]) AS freed(key) WHERE turn.place = 1
                        UNION ALL
                        (SELECT key, min(nth) AS nth FROM arrived
                         WHERE turn.place = 2 AND wanted AND key NOT IN (SELECT unnest(:known_keys::text[]))
                         GROUP BY key ORDER BY 2)
                        UNION ALL
                        (SELECT key, min(nth) AS nth FROM due WHERE turn.place = 3 AND wanted GROUP BY key ORDER BY 2)) found
                    CROSS JOIN LATERAL (
                        SELECT {work_item_id} AS id, {status} AS status, {due_on} AS due_on, {topic} AS topic
                        FROM {table} WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key}) AND {message_key} = found.key
                        ORDER BY {status} DESC, {sequence} LIMIT 1) head
                    UNION ALL
                    SELECT bounded.key, head.id, head.status, head.due_on, head.topic, 0
                    FROM unnest(:bounded_keys::text[], :bounds::bigint[]) AS bounded(key, after) CROSS JOIN LATERAL (
                        SELECT first.*
                        FROM (VALUES (3, '-9223372036854775808'::bigint), (1, bounded.after), (0, bounded.after)) AS next(status, after)
                        CROSS JOIN LATERAL (
                            SELECT {work_item_id} AS id, {status} AS status, {due_on} AS due_on, {topic} AS topic
                            FROM {table} WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key})
                              AND {message_key} = bounded.key AND {status} = next.status AND {sequence} > next.after
                            ORDER BY {sequence} LIMIT 1) first
                        LIMIT 1) head
                    WHERE turn.place = 1) first
                WHERE first.status = 0 AND (first.due_on IS NULL OR first.due_on <= now())
                  AND (:topics::text[] IS NULL OR (first.topic = ANY (:topics)) = :listed)
                LIMIT :heads
            ),
            ended AS MATERIALIZED (
                SELECT count(*) = :heads AS was_full, count(*) AS heads,
                    set_config('outbox.heads', COALESCE(array_agg(id)::text, '{}'), true),
                    CASE WHEN count(*) = :heads THEN max(array_position(:places::int[], place)) ELSE 4 END AS last_turn,
                    max(nth) FILTER (WHERE place = 2) AS arrived, max(nth) FILTER (WHERE place = 3) AS due
                FROM heads
            )
            SELECT was_full, heads,
                CASE WHEN array_position(:places::int[], 2) <= last_turn THEN ARRAY(
                    SELECT (SELECT max(sequence) FROM arrived WHERE arrived.band = bands.band
                        AND (array_position(:places::int[], 2) < last_turn OR nth <= ended.arrived))
                    FROM generate_series(0, 2) AS bands(band)) END AS arrived_to,
                CASE WHEN array_position(:places::int[], 2) <= last_turn THEN ARRAY(
                    SELECT (SELECT max(rank) FROM arrived WHERE arrived.band = bands.band) = :stretch
                    FROM generate_series(0, 2) AS bands(band)) END AS arrived_more,
                CASE WHEN array_position(:places::int[], 2) <= last_turn OR array_position(:places::int[], 3) <= last_turn
                    THEN ARRAY(
                        SELECT unnest(:known_keys::text[]) INTERSECT (SELECT key FROM arrived UNION ALL SELECT key FROM due))
                    END AS passed_by,
                due_end.due_on AS due_to, due_end.sequence AS due_sequence_to,
                CASE WHEN array_position(:places::int[], 3) < last_turn
                    THEN (SELECT max(nth) FROM due) = :stretch END AS due_more
            FROM ended LEFT JOIN LATERAL (
                SELECT due.due_on, due.sequence FROM due
                WHERE array_position(:places::int[], 3) < last_turn
                   OR (array_position(:places::int[], 3) = last_turn AND nth <= ended.due)
                ORDER BY nth DESC LIMIT 1) due_end ON true
            """;

    /** Takes the heads that were found, each with a run of the rows behind it. */
    static final String TAKE = """
            WITH found AS MATERIALIZED (
                SELECT id, min(nth) AS nth
                FROM unnest(current_setting('outbox.heads')::{id_type}[]) WITH ORDINALITY AS head(id, nth) GROUP BY id
            ),
            heads AS MATERIALIZED (
                SELECT {work_item_id} AS id, {message_key} AS key, {sequence} AS sequence, {attempt_count} > 1 AS suspect,
                    COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM found)) AND {topic} IS NOT NULL
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
                FROM heads head CROSS JOIN LATERAL (
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
                        LIMIT GREATEST(:longest_run, :count / (SELECT GREATEST(count(*), 1) FROM heads)) - 1
                        FOR NO KEY UPDATE SKIP LOCKED) later) run
            ),
            bytes AS MATERIALIZED (
                SELECT COALESCE(sum(size), 0) + COALESCE((SELECT sum(size) FROM runs), 0) < :max_bytes AS suffice,
                    count(*) + COALESCE((SELECT sum(cardinality(ids)) FROM runs), 0) > :count AS are_many
                FROM heads
            ),
            sized AS MATERIALIZED (
                SELECT id, sum(size) OVER (ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM (
                    (SELECT id, size FROM heads JOIN found USING (id) ORDER BY nth)
                    UNION ALL
                    SELECT id, size
                    FROM (SELECT unnest(ids) AS id, unnest(sizes) AS size FROM runs) later WHERE id IS NOT NULL
                    LIMIT :count) picked
            )
            UPDATE {table} SET {status = 1}, {owner_token = :token}, {attempt_count = {attempt_count} + 1},
                {locked_until = now() + :lease * interval '1 microsecond'}, {processed_by = :owner},
                {blocks_key = false}
            WHERE {work_item_id} = ANY (CASE WHEN (SELECT suffice FROM bytes)
                THEN ARRAY(SELECT id FROM heads UNION ALL SELECT unnest(ids) FROM runs LIMIT :count)
                ELSE ARRAY(SELECT id FROM sized WHERE fits) END)
              AND {topic} IS NOT NULL AND {status} = 0
            RETURNING
            """ + WorkItemRow.COLUMNS + """
            , CASE WHEN NOT (SELECT suffice FROM bytes)
                    THEN EXISTS (SELECT 1 FROM sized WHERE NOT fits) END AS cut,
                (SELECT are_many FROM bytes) AS left_rows
            """;

    private final PinnedPlan plan;
    private final @Nullable PayloadSerializer serializer;
    private final LongSupplier ticker;

    PostgresKeyClaim(PostgresTable table, @Nullable PayloadSerializer serializer, LongSupplier ticker) {
        this.ticker = ticker;
        this.plan = PinnedPlan.unflushed(table.own(), List.of(FIND, TAKE));
        this.serializer = serializer;
    }

    ClaimedRows run(Connection connection, ClaimRequest request, Topics topics, KeyScan scan) throws SQLException {
        long until = ticker.getAsLong() + request.lease().toNanos();
        return scan.walk(() -> once(connection, request, topics, scan, until));
    }

    private ClaimedRows once(Connection connection, ClaimRequest request, Topics topics, KeyScan scan, long until)
            throws SQLException {
        UUID token = UUID.randomUUID();
        KeyScan.Look look = scan.look(request.count());
        return plan.run(
                connection,
                query -> {
                    query.set("count", request.count())
                            .set("max_bytes", request.maxBytes())
                            .set("token", token)
                            .set("lease", request.lease())
                            .set("owner", request.owner());
                    set(query, look);
                    PostgresClaim.set(query, topics);
                },
                results -> read(results, token, scan, until));
    }

    private static void set(Query query, KeyScan.Look look) throws SQLException {
        query.setArray(
                        "places",
                        "int4",
                        look.places().stream().map(PostgresKeyClaim::code).toArray())
                .setArray(
                        "freed_keys", "text", freed(look, false).map(Hint::key).toArray())
                .setArray(
                        "bounded_keys", "text", freed(look, true).map(Hint::key).toArray())
                .setArray("bounds", "int8", freed(look, true).map(Hint::after).toArray())
                .setArray("known_keys", "text", look.known().toArray())
                .setArray("arrived_after", "int8", look.arrivedAfter().toArray())
                .setArray("arrived_up_to", "int8", look.arrivedUpTo().toArray())
                .set("first_band", look.firstBand())
                .set("due_after", Timestamps.write(look.dueAfter()))
                .set("due_sequence", look.dueSequence())
                .set("due_up_to", Timestamps.write(look.dueUpTo()))
                .set("stretch", look.stretch())
                .set("heads", look.heads())
                .set("longest_run", look.longestRun());
    }

    private static Stream<Hint> freed(KeyScan.Look look, boolean bounded) {
        return look.freed().stream().filter(hint -> hint.isBounded() == bounded);
    }

    /** As the statement knows it. */
    private static int code(KeyScan.Place place) {
        return switch (place) {
            case FREED -> 1;
            case ARRIVED -> 2;
            case DUE -> 3;
        };
    }

    private ClaimedRows read(PinnedPlan.Results results, UUID token, KeyScan scan, long until) throws SQLException {
        KeyScan.Seen seen;
        try (ResultSet row = results.next()) {
            row.next();
            seen = seen(row);
        }
        List<WorkItem> items = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        boolean cut = false;
        boolean leftRows = false;
        try (ResultSet rows = results.next()) {
            while (rows.next()) {
                cut = rows.getBoolean("cut");
                leftRows = rows.getBoolean("left_rows");
                scan.took(
                        rows.getString("message_key"),
                        rows.getInt("priority"),
                        rows.getLong("sequence"),
                        Timestamps.readOptional(rows, "due_on"));
                ClaimedRows.read(rows, serializer, items, unreadable);
            }
        }
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        boolean more = scan.end(seen, items, cut, leftRows, results.at(), until);
        return new ClaimedRows(token.toString(), results.at(), items, unreadable, more);
    }

    private static KeyScan.Seen seen(ResultSet row) throws SQLException {
        return new KeyScan.Seen(
                row.getBoolean("was_full"),
                row.getInt("heads"),
                list(row, "arrived_to", Long[].class),
                list(row, "arrived_more", Boolean[].class),
                Timestamps.readOptional(row, "due_to"),
                row.getLong("due_sequence_to"),
                row.getBoolean("due_more"),
                list(row, "passed_by", String[].class));
    }

    private static <T> List<T> list(ResultSet row, String column, Class<T[]> type) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? List.of() : Arrays.asList(type.cast(array.getArray()));
    }
}
