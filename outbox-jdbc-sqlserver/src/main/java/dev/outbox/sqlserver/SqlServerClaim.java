package dev.outbox.sqlserver;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimProgress;
import dev.outbox.jdbc.internal.claim.ClaimQueue;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Topics;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Unreadable;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim query, one batch per queue. Queues, turns, priority and marks are those of every database: ready and
 * waiting rows without a key, and keys.
 *
 * <p><b>Rows without a key.</b> A subquery picks {@code TOP … ORDER BY} of one band of priority, the UPDATE joins the
 * table to it, asks the status once more and says what it took; five times: bulk's tenth, urgent rows up to their share,
 * normal ones, urgent ones again, bulk; in one claim of four normal ones come before urgent ones, up to their share. The
 * hints: ROWLOCK and UPDLOCK lock what is picked, READPAST passes by what others hold, and READCOMMITTEDLOCK makes it
 * read by locks where the database reads READ COMMITTED by versions, or READPAST would be refused. Where a server
 * ignores them all, the status asked outside keeps a row from being taken twice.
 *
 * <p><b>Keys.</b> Found by jumping from key to key without locks, a bounded number per claim; dirty reads are good
 * enough to find, not to decide. A skipped row would be worse than a wait here: if the head of a key is held by an open
 * transaction, READPAST would hand out the row behind it. So each key that looks good is looked at once more with
 * locks, its first row only, and LOCK_TIMEOUT 0 turns a row that somebody holds into error 1222, which means: not this
 * key, not now. The head is taken first, and its run only if that succeeded, so that whoever lost the head gets
 * nothing of the key, even on a server without such locks. The run is read without READPAST: it has no gap, or
 * the head comes alone, as does one that was tried twice. Keys are taken in their order, in one transaction, so
 * that no two claims wait for each other.
 *
 * <p><b>Bytes.</b> What was picked and locked is counted in order, and a row is taken while those before it have fewer
 * bytes than the claim may have: the first one always, however large. Bulk's tenth of the batch may have a tenth of the
 * bytes, and in one claim of ten all of them. Of keys, the heads are counted before they are locked, with a size that was
 * read without waiting: urgent ones by their age, then the others in the order of the round, and in one claim of ten the
 * others first; what they leave is for the rows behind them. DATALENGTH counts two bytes per character of text.
 *
 * <p>Every search names its index, so that no mood of the optimizer makes it read, and lock, what is Done.
 *
 * <p>What was taken goes through a table variable, because a table with triggers refuses to answer an OUTPUT
 * without INTO (334).
 *
 * <p><b>Crashes.</b> If the answer is lost, the rows are leased to a token nobody knows, and come back when
 * the lease expires.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
final class SqlServerClaim implements ClaimStatement {
    /** Each statement stays far below the 5,000 locks at which the server would rather lock the table. */
    private static final int MOST = 500;

    static final String READY =
            """
            %1$s
            DECLARE @turn int = 0, @band smallint, @mark bigint, @to bigint, @end bigint, @tenth int = :tenth,
                @high_share int = :high_share, @bulk_first bit = :bulk_first, @normal_first int = :normal_first,
                @stretch int = :stretch, @high bigint = :ready_0, @normal bigint = :ready_1, @bulk bigint = :ready_2,
                @high_to bigint = :ready_end_0, @normal_to bigint = :ready_end_1, @bulk_to bigint = :ready_end_2,
                @high_end bigint, @normal_end bigint, @bulk_end bigint;
            WHILE @turn < 5 AND @left > 0 AND @spare > 0
            BEGIN
                SET @turn = @turn + 1;
                SET @band = CASE WHEN @turn IN (1, 5) THEN 2 WHEN @turn = 3 THEN 1 - @normal_first ELSE @normal_first END;
                SET @most = CASE WHEN @turn = 1 AND @tenth < @left THEN @tenth WHEN @turn <> 2 THEN @left
                    WHEN @normal_first = 1 THEN @left - @high_share ELSE @high_share END;
                SET @mark = CASE @band WHEN 0 THEN @high WHEN 1 THEN @normal ELSE @bulk END;
                SET @to = CASE @band WHEN 0 THEN @high_to WHEN 1 THEN @normal_to ELSE @bulk_to END;
                SET @end = NULL;
                IF @filtered = 1
                    SELECT @end = {sequence} FROM {table} WITH ({by_ready}READUNCOMMITTED)
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = @band AND {sequence} > @mark AND {sequence} <= @to
                    ORDER BY {sequence} OFFSET @stretch - 1 ROWS FETCH NEXT 1 ROWS ONLY;
                IF @band = 0 SET @high_end = @end;
                IF @band = 1 SET @normal_end = @end;
                IF @band = 2 SET @bulk_end = @end;
                UPDATE {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                SET {status = 1}, {owner_token = @token}, {attempt_count = {attempt_count} + 1},
                    {locked_until = DATEADD(millisecond, @lease, @now)}, {processed_by = @owner}
                %2$s
                FROM (
                    SELECT sized.place
                    FROM (
                        SELECT place, size, SUM(size) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) AS upto
                        FROM (
                            SELECT TOP (@most) {sequence} AS place,
                                COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0) AS size
                            FROM {table} WITH ({by_ready}ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                            WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                              AND {priority} = @band AND {sequence} > @mark
                              AND {sequence} <= COALESCE(@end, @to)
                              AND (@filtered = 0 OR @listed =
                                CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = {topic} + N'.') THEN 1 ELSE 0 END)
                            ORDER BY {sequence}) picked) sized
                    WHERE sized.upto - sized.size < @spare
                      AND (@turn > 1 OR @bulk_first = 1 OR sized.upto <= @max_bytes / 10)) taken
                WHERE {sequence} = taken.place AND {status} = 0;
                IF @@ROWCOUNT > 0
                    %4$s
            END;
            SELECT @high_end AS high_end, @normal_end AS normal_end, @bulk_end AS bulk_end, %3$s
            """.formatted(ClaimParts.DECLARE, ClaimParts.OUTPUT, ClaimParts.ANSWER, ClaimParts.LEFT);

    static final String WAITING =
            """
            %1$s
            DECLARE @turn int = 0, @band smallint, @mark datetime2(7), @mark_sequence bigint, @tenth int = :tenth,
                @high_share int = :high_share, @bulk_first bit = :bulk_first, @normal_first int = :normal_first,
                @to datetime2(7),
                @high datetime2(7) = :due_0, @normal datetime2(7) = :due_1, @bulk datetime2(7) = :due_2,
                @high_sequence bigint = :due_sequence_0, @normal_sequence bigint = :due_sequence_1,
                @bulk_sequence bigint = :due_sequence_2,
                @high_to datetime2(7) = :due_end_0, @normal_to datetime2(7) = :due_end_1, @bulk_to datetime2(7) = :due_end_2;
            WHILE @turn < 5 AND @left > 0 AND @spare > 0
            BEGIN
                SET @turn = @turn + 1;
                SET @band = CASE WHEN @turn IN (1, 5) THEN 2 WHEN @turn = 3 THEN 1 - @normal_first ELSE @normal_first END;
                SET @most = CASE WHEN @turn = 1 AND @tenth < @left THEN @tenth WHEN @turn <> 2 THEN @left
                    WHEN @normal_first = 1 THEN @left - @high_share ELSE @high_share END;
                SET @mark = CASE @band WHEN 0 THEN @high WHEN 1 THEN @normal ELSE @bulk END;
                SET @to = CASE @band WHEN 0 THEN @high_to WHEN 1 THEN @normal_to ELSE @bulk_to END;
                SET @mark_sequence = CASE @band WHEN 0 THEN @high_sequence WHEN 1 THEN @normal_sequence
                    ELSE @bulk_sequence END;
                UPDATE {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                SET {status = 1}, {owner_token = @token}, {attempt_count = {attempt_count} + 1},
                    {locked_until = DATEADD(millisecond, @lease, @now)}, {processed_by = @owner}
                %2$s
                FROM (
                    SELECT sized.place
                    FROM (
                        SELECT place, size, SUM(size) OVER (ORDER BY due, place ROWS UNBOUNDED PRECEDING) AS upto
                        FROM (
                            SELECT TOP (@most) {sequence} AS place, {due_on} AS due,
                                COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0) AS size
                            FROM {table} WITH ({by_due}ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                            WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                              AND {priority} = @band AND {due_on} >= @mark AND {due_on} <= @now AND {due_on} <= @to
                              AND ({due_on} > @mark OR {sequence} > @mark_sequence)
                              AND (@filtered = 0 OR @listed =
                                CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = {topic} + N'.') THEN 1 ELSE 0 END)
                            ORDER BY {due_on}, {sequence}) picked) sized
                    WHERE sized.upto - sized.size < @spare
                      AND (@turn > 1 OR @bulk_first = 1 OR sized.upto <= @max_bytes / 10)) taken
                WHERE {sequence} = taken.place AND {status} = 0;
                IF @@ROWCOUNT > 0
                    %4$s
            END;
            SELECT %3$s
            """.formatted(ClaimParts.DECLARE, ClaimParts.OUTPUT, ClaimParts.ANSWER, ClaimParts.LEFT);

    private final SqlServerBatch ready;
    private final SqlServerBatch waiting;
    private final SqlServerBatch keys;
    private final @Nullable PayloadSerializer serializer;
    private final ClaimProgress.ByTopics progress;
    private ClaimProgress now;

    SqlServerClaim(SqlServerTable table, SourceSettings settings) {
        this.ready = SqlServerBatch.of(table.layout(), READY);
        this.waiting = SqlServerBatch.of(table.layout(), WAITING);
        this.keys = SqlServerBatch.of(table.layout(), SqlServerKeyClaim.KEYS);
        this.serializer = settings.serializer();
        this.progress = new ClaimProgress.ByTopics(
                settings.ticker(), new SqlServerMarks(), settings.freed(), settings.arrivals());
        this.now = progress.of(new Topics(Set.of(), false));
    }

    @Override
    public ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException {
        Topics topics = Topics.of(request);
        if (topics.areNone()) {
            return ClaimedRows.nothing();
        }
        now = progress.of(topics);
        return now.turns().walk(queue -> now.marks().walk(queue, one -> walk(one, connection, request, topics)));
    }

    private ClaimedRows walk(ClaimQueue queue, Connection connection, ClaimRequest request, Topics topics)
            throws SQLException {
        String token = UUID.randomUUID().toString();
        int count = Math.min(request.count(), MOST);
        SqlServerBatch batch = switch (queue) {
            case READY -> ready;
            case WAITING -> waiting;
            case KEYS -> keys;
        };
        return batch.run(
                connection,
                query -> {
                    set(query, request, topics, token);
                    switch (queue) {
                        case READY -> {
                            now.marks().setReady(query, count);
                            now.marks().setStretch(query);
                        }
                        case WAITING -> now.marks().setDue(query, count);
                        case KEYS -> now.round().set(query, count);
                    }
                },
                rows -> read(queue, rows, token, count));
    }

    /** What all batches declare. */
    static Query set(Query query, ClaimRequest request, Topics topics, String token) throws SQLException {
        return query.set("count", Math.min(request.count(), MOST))
                .set("max_bytes", request.maxBytes())
                .set("token", new NationalText(token))
                .set("lease", (int) request.lease().toMillis())
                .set("owner", new NationalText(request.owner()))
                .set("topics", JsonRows.topics(topics.names()))
                .set("filtered", !topics.areAll())
                .set("listed", topics.listed());
    }

    private ClaimedRows read(ClaimQueue queue, ResultSet rows, String token, int count) throws SQLException {
        List<WorkItem> items = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        rows.next();
        Instant at = Timestamps.read(rows, "at");
        boolean cut = rows.getBoolean("cut");
        if (cut && queue == ClaimQueue.KEYS) {
            now.round().cut(rows);
        }
        switch (queue) {
            case READY -> now.marks().walked(rows);
            case WAITING -> {}
            case KEYS -> now.round().walked(rows.getString("to_key"));
        }
        for (boolean found = true; found && rows.getString(WorkItemRow.ID) != null; found = rows.next()) {
            if (queue == ClaimQueue.KEYS) {
                now.round().took(rows);
            } else {
                now.marks().took(rows);
            }
            ClaimedRows.read(rows, serializer, items, unreadable);
        }
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        int taken = items.size() + unreadable.size();
        boolean hadRoom = taken < count && !cut;
        boolean walkedAll = switch (queue) {
            case READY -> now.marks().end(hadRoom);
            case WAITING -> now.marks().endDue(hadRoom, at);
            case KEYS -> now.round().end(count);
        };
        return new ClaimedRows(token, at, items, unreadable, taken > 0 || !walkedAll);
    }
}
