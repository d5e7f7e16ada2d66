package dev.outbox.postgres;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim query of phases 0 and 1: by the old columns, as old applications do it beside us, in the order of their
 * index. There are no keys and no priorities yet, and rows without a topic are nobody's to claim.
 *
 * <p>Rows that are not due are in the same index as those that are, and so are read each time: an old table has no other.
 *
 * <p>Locking and crashes are as in {@link PostgresClaim}.
 */
final class PostgresLegacyClaim implements ClaimStatement {
    static final String CLAIM = """
            WITH picked AS MATERIALIZED (
                SELECT ctid AS place, {claim_order} AS turn,
                    COALESCE(octet_length({payload}::text), octet_length({payload_bytes}), 0) AS size
                FROM {table}
                WHERE {ready} AND {topic} IS NOT NULL AND ({due_on} IS NULL OR {due_on} <= now())
                  AND ({locked_until} IS NULL OR {locked_until} <= now())
                  AND (:topics::text[] IS NULL OR ({topic} = ANY (:topics)) = :listed)
                ORDER BY {claim_order} LIMIT :count
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            sized AS MATERIALIZED (
                SELECT place, sum(size) OVER (ORDER BY turn ROWS UNBOUNDED PRECEDING) - size < :max_bytes AS fits
                FROM picked
            )
            UPDATE {table} SET {status = 1}, {owner_token = :token}, {attempt_count = {attempt_count} + 1},
                {locked_until = now() + :lease * interval '1 microsecond'}, {processed_by = :owner}
            WHERE ctid = ANY (ARRAY(SELECT place FROM sized WHERE fits)) AND {status} = 0
            RETURNING
            """ + WorkItemRow.COLUMNS;

    /** The next time that lies ahead, as {@link PostgresNextDue#NEXT_DUE}. */
    static final String NEXT_DUE = """
            SELECT (EXTRACT(EPOCH FROM min({due_on}) - statement_timestamp()) * 1000000)::bigint
            FROM {table}
            WHERE {ready} AND {topic} IS NOT NULL AND {due_on} > statement_timestamp()
              AND (:topics::text[] IS NULL OR {topic} = ANY (:topics))
            """;

    private final PinnedPlan claim;
    private final @Nullable PayloadSerializer serializer;

    PostgresLegacyClaim(Layout layout, @Nullable PayloadSerializer serializer) {
        this.claim = PinnedPlan.unflushed(layout, List.of(CLAIM));
        this.serializer = serializer;
    }

    @Override
    public ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException {
        ClaimedRows.Topics topics = ClaimedRows.Topics.of(request);
        UUID token = UUID.randomUUID();
        if (topics.areNone()) {
            return ClaimedRows.nothing();
        }
        return claim.run(
                connection,
                query -> PostgresClaim.set(
                        query.set("count", request.count())
                                .set("max_bytes", request.maxBytes())
                                .set("token", token)
                                .set("lease", request.lease())
                                .set("owner", request.owner()),
                        topics),
                results -> {
                    List<WorkItem> items = new ArrayList<>();
                    List<ClaimedRows.Unreadable> unreadable = new ArrayList<>();
                    try (ResultSet rows = results.next()) {
                        while (rows.next()) {
                            ClaimedRows.read(rows, serializer, items, unreadable);
                        }
                    }
                    items.sort(Comparator.comparing(WorkItem::createdOn).thenComparingLong(WorkItem::sequence));
                    boolean more = !items.isEmpty() || !unreadable.isEmpty();
                    return new ClaimedRows(token.toString(), results.at(), items, unreadable, more);
                });
    }
}
