package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The inbox half of {@link OldApplication}. */
public final class OldInbox {
    /** A message it has claimed. */
    public record Claimed(
            String messageId,
            String source,
            @Nullable String topic,
            @Nullable String payload) {}

    private static final String ALREADY_PROCESSED = """
            INSERT INTO %1$s AS i ([MessageId], [Source], [Hash], [Attempts], [Status])
            VALUES (?, ?, ?, 1, 'Seen')
            ON CONFLICT ([MessageId]) DO UPDATE SET [LastSeenUtc] = CURRENT_TIMESTAMP, [Attempts] = i.[Attempts] + 1
            RETURNING [Status] = 'Done'
            """;

    private static final String ENQUEUE = """
            INSERT INTO %1$s AS i ([MessageId], [Source], [Hash], [Topic], [Payload], [DueTimeUtc], [Attempts], [Status])
            VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP + ? * interval '1 millisecond', 0, 'Seen')
            ON CONFLICT ([MessageId]) DO UPDATE SET [LastSeenUtc] = CURRENT_TIMESTAMP
            """;

    private static final String MARK_PROCESSING =
            "UPDATE %s SET [Status] = 'Processing', [LastSeenUtc] = CURRENT_TIMESTAMP"
                    + " WHERE [MessageId] = ? AND [Status] <> 'Done'";

    private static final String MARK_PROCESSED = "UPDATE %s SET [Status] = 'Done', [ProcessedUtc] = CURRENT_TIMESTAMP,"
            + " [LastSeenUtc] = CURRENT_TIMESTAMP WHERE [MessageId] = ?";

    private static final String MARK_DEAD =
            "UPDATE %s SET [Status] = 'Dead', [LastSeenUtc] = CURRENT_TIMESTAMP" + " WHERE [MessageId] = ?";

    private static final String CLAIM = """
            UPDATE %1$s SET [Status] = 'Processing', [OwnerToken] = ?,
                [LockedUntil] = CURRENT_TIMESTAMP + interval '30 seconds'
            WHERE [MessageId] IN (
                SELECT [MessageId] FROM %1$s
                WHERE [Status] = 'Seen' AND [Topic] IS NOT NULL
                  AND ([LockedUntil] IS NULL OR [LockedUntil] <= CURRENT_TIMESTAMP)
                  AND ([DueTimeUtc] IS NULL OR [DueTimeUtc] <= CURRENT_TIMESTAMP)
                ORDER BY [LastSeenUtc]
                LIMIT ?
                FOR UPDATE SKIP LOCKED)
            RETURNING [MessageId], [Source], [Topic], [Payload]
            """;

    private static final String ACKNOWLEDGE = """
            UPDATE %s SET [Status] = 'Done', [ProcessedUtc] = CURRENT_TIMESTAMP, [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [MessageId] = ? AND [OwnerToken] = ? AND [Status] = 'Processing'
            """;

    private static final String CLEAN_UP = """
            DELETE FROM %s WHERE [Status] = 'Done'
              AND [ProcessedUtc] < CURRENT_TIMESTAMP - ? * interval '1 millisecond'
            """;

    private final Spelling spelling;
    private final String table;

    public OldInbox(Spelling spelling, String table) {
        this.spelling = spelling;
        this.table = "\"" + table + "\"";
    }

    /** Records the arrival; true only if the message is Done. */
    public boolean alreadyProcessed(Connection tx, String messageId, String source, byte @Nullable [] hash)
            throws SQLException {
        try (PreparedStatement upsert = prepare(tx, ALREADY_PROCESSED)) {
            OldApplication.set(upsert, messageId, source, hash);
            try (ResultSet row = upsert.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    public void enqueue(
            Connection tx, String topic, String source, String messageId, String payload, @Nullable Long delay)
            throws SQLException {
        update(tx, ENQUEUE, messageId, source, null, topic, payload, delay);
    }

    public void markProcessing(Connection tx, String messageId) throws SQLException {
        update(tx, MARK_PROCESSING, messageId);
    }

    public void markProcessed(Connection tx, String messageId) throws SQLException {
        update(tx, MARK_PROCESSED, messageId);
    }

    public void markDead(Connection tx, String messageId) throws SQLException {
        update(tx, MARK_DEAD, messageId);
    }

    public List<Claimed> claim(Connection tx, UUID owner, int batch) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        try (PreparedStatement claim = prepare(tx, CLAIM)) {
            OldApplication.set(claim, owner, batch);
            try (ResultSet row = claim.executeQuery()) {
                while (row.next()) {
                    claimed.add(new Claimed(row.getString(1), row.getString(2), row.getString(3), row.getString(4)));
                }
            }
        }
        return claimed;
    }

    public boolean acknowledge(Connection tx, UUID owner, String messageId) throws SQLException {
        return update(tx, ACKNOWLEDGE, messageId, owner) == 1;
    }

    public int cleanUp(Connection tx, long olderThan) throws SQLException {
        return update(tx, CLEAN_UP, olderThan);
    }

    private int update(Connection tx, String statement, @Nullable Object... values) throws SQLException {
        try (PreparedStatement update = prepare(tx, statement)) {
            OldApplication.set(update, values);
            return update.executeUpdate();
        }
    }

    private PreparedStatement prepare(Connection tx, String statement) throws SQLException {
        return tx.prepareStatement(spelling.sql(statement.formatted(table)));
    }
}
