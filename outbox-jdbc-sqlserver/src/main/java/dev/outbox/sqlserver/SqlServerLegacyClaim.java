package dev.outbox.sqlserver;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.sql.Timestamps;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim query of phases 0 and 1, and of an inbox in phase 2: by the old columns, as old applications do it beside us, in the order of their
 * index. There are no keys and no priorities yet, and rows without a topic are nobody's to claim.
 *
 * <p>Locking and crashes are as in {@link SqlServerClaim}.
 */
final class SqlServerLegacyClaim implements ClaimStatement {
    static final String CLAIM = """
            %1$s
            UPDATE {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            SET {status = 1}, {owner_token = @token}, {attempt_count = {attempt_count} + 1},
                {locked_until = DATEADD(millisecond, @lease, @now)}, {processed_by = @owner}
            %2$s
            FROM (
                SELECT sized.place
                FROM (
                    SELECT place, size, SUM(size) OVER (ORDER BY turn, place ROWS UNBOUNDED PRECEDING) AS upto
                    FROM (
                        SELECT TOP (@left) {place} AS place, {claim_order} AS turn,
                            COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0) AS size
                        FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                        WHERE {mine} AND {ready}{unprocessed} AND {has_topic}
                          AND ({due_on} IS NULL OR {due_on} <= @now)
                          AND ({locked_until} IS NULL OR {locked_until} <= @now)
                          AND (@filtered = 0 OR @listed =
                            CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = {topic} + N'.') THEN 1 ELSE 0 END)
                        ORDER BY {claim_order}) picked) sized
                WHERE sized.upto - sized.size < @max_bytes) taken
            WHERE {place} = taken.place AND {ready};
            SELECT %3$s
            """.formatted(ClaimParts.DECLARE, ClaimParts.OUTPUT, ClaimParts.ANSWER);

    private final SqlServerBatch claim;
    private final @Nullable PayloadSerializer serializer;

    SqlServerLegacyClaim(SqlServerTable table, @Nullable PayloadSerializer serializer) {
        this.claim = SqlServerBatch.of(table.layout(), CLAIM);
        this.serializer = serializer;
    }

    @Override
    public ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException {
        ClaimedRows.Topics topics = ClaimedRows.Topics.of(request);
        if (topics.areNone()) {
            return ClaimedRows.nothing();
        }
        String token = UUID.randomUUID().toString();
        return claim.run(
                connection, query -> SqlServerClaim.set(query, request, topics, token), rows -> read(rows, token));
    }

    private ClaimedRows read(ResultSet rows, String token) throws SQLException {
        List<WorkItem> items = new ArrayList<>();
        List<ClaimedRows.Unreadable> unreadable = new ArrayList<>();
        rows.next();
        Instant at = Timestamps.read(rows, "at");
        for (boolean found = true; found && rows.getString(WorkItemRow.ID) != null; found = rows.next()) {
            ClaimedRows.read(rows, serializer, items, unreadable);
        }
        items.sort(Comparator.comparing(WorkItem::createdOn).thenComparingLong(WorkItem::sequence));
        return new ClaimedRows(token, at, items, unreadable, !items.isEmpty() || !unreadable.isEmpty());
    }
}
