package dev.outbox.torture;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A claim as many queues write it: the planner may run the subquery once per row, and then its LIMIT limits nothing. */
final class InSubqueryClaim implements Variant {
    private static final String CLAIM = """
            SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;
            SET LOCAL enable_hashagg = off; SET LOCAL enable_sort = off; SET LOCAL enable_memoize = off;
            UPDATE %1$s SET status = 1, owner_token = ?, attempt_count = attempt_count + 1,
                locked_until = now() + ? * interval '1 ms', processed_by = ?
            WHERE status = 0 AND message_key IS NULL AND work_item_id IN (
                SELECT work_item_id FROM %1$s WHERE status = 0 AND message_key IS NULL
                ORDER BY sequence LIMIT ? FOR UPDATE SKIP LOCKED)
            RETURNING work_item_id, sequence, attempt_count, created_on, topic, message_id, payload
            """;

    @Override
    public TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
        String table = ChildSettings.fromProperties().tables().outbox();
        return new ForwardingTransactionalSource(honest) {
            private int claims;

            @Override
            public Claim claim(ClaimRequest request) {
                // every other one is honest, so that keys and the inbox go on
                return claims++ % 2 == 0 || request.owner().endsWith("-inbox")
                        ? super.claim(request)
                        : claimUnkeyed(dataSource, table, request);
            }
        };
    }

    private static Claim claimUnkeyed(DataSource dataSource, String table, ClaimRequest request) {
        String token = UUID.randomUUID().toString();
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            List<WorkItem> items = new ArrayList<>();
            try (PreparedStatement claim = connection.prepareStatement(CLAIM.formatted(table))) {
                claim.setObject(1, UUID.fromString(token));
                claim.setLong(2, request.lease().toMillis());
                claim.setString(3, request.owner());
                claim.setInt(4, request.count());
                boolean rows = claim.execute();
                while (!rows) {
                    rows = claim.getMoreResults();
                }
                try (ResultSet row = claim.getResultSet()) {
                    while (row.next()) {
                        items.add(new WorkItem(
                                row.getString(1),
                                row.getLong(2),
                                row.getInt(3),
                                row.getObject(4, OffsetDateTime.class).toInstant(),
                                Message.to(row.getString(5))
                                        .id(row.getString(6))
                                        .payload(row.getString(7))));
                    }
                }
            }
            connection.commit();
            items.sort((a, b) -> Long.compare(a.sequence(), b.sequence()));
            return new Claim(token, Instant.now(), items, List.of(), true);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
