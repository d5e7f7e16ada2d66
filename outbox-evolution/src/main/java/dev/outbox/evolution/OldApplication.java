package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An application of the time before: plain SQL against the legacy outbox, with no idea of any other column.
 *
 * <p>Every call works on the connection it is given, in whatever transaction that has.
 */
public final class OldApplication {
    /** A message it has claimed. */
    public record Claimed(UUID id, UUID messageId, String topic, String payload, int retryCount) {}

    private static final String ENQUEUE = """
            INSERT INTO %s ([Id], [MessageId], [Topic], [Payload], [CorrelationId], [DueTimeUtc])
            VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP + ? * interval '1 millisecond')
            """;

    private static final String CLAIM = """
            UPDATE %1$s SET [Status] = 1, [OwnerToken] = ?, [LockedUntil] = CURRENT_TIMESTAMP + interval '30 seconds'
            WHERE [Id] IN (
                SELECT [Id] FROM %1$s
                WHERE [Status] = 0
                  AND ([LockedUntil] IS NULL OR [LockedUntil] <= CURRENT_TIMESTAMP)
                  AND ([DueTimeUtc] IS NULL OR [DueTimeUtc] <= CURRENT_TIMESTAMP)
                ORDER BY [CreatedAt]
                LIMIT ?
                FOR UPDATE SKIP LOCKED)
            RETURNING [Id], [MessageId], [Topic], [Payload], [RetryCount]
            """;

    private static final String ACKNOWLEDGE = """
            UPDATE %s SET [Status] = 2, [IsProcessed] = TRUE, [ProcessedAt] = CURRENT_TIMESTAMP, [ProcessedBy] = 'old',
                [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String RESCHEDULE = """
            UPDATE %s SET [Status] = 0, [RetryCount] = [RetryCount] + 1, [LastError] = ?,
                [DueTimeUtc] = CURRENT_TIMESTAMP + ? * interval '1 millisecond', [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String FAIL = """
            UPDATE %s SET [Status] = 3, [LastError] = ?, [ProcessedBy] = 'old', [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String REAP = """
            UPDATE %s SET [Status] = 0, [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Status] = 1 AND [LockedUntil] <= CURRENT_TIMESTAMP
            """;

    private static final String CLEAN_UP = """
            DELETE FROM %s WHERE [IsProcessed] = TRUE
              AND [ProcessedAt] < CURRENT_TIMESTAMP - ? * interval '1 millisecond'
            """;

    private final Spelling spelling;
    private final String table;

    public OldApplication(Spelling spelling, String table) {
        this.spelling = spelling;
        this.table = "\"" + table + "\"";
    }

    /** Stores a message and answers its logical id; a delay of null means at once. */
    public UUID enqueue(
            Connection tx, String topic, String payload, @Nullable String correlationId, @Nullable Long delay)
            throws SQLException {
        UUID messageId = UUID.randomUUID();
        try (PreparedStatement insert = prepare(tx, ENQUEUE)) {
            set(insert, UUID.randomUUID(), messageId, topic, payload, correlationId, delay);
            insert.executeUpdate();
        }
        return messageId;
    }

    public List<Claimed> claim(Connection tx, UUID owner, int batch) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        try (PreparedStatement claim = prepare(tx, CLAIM)) {
            set(claim, owner, batch);
            try (ResultSet row = claim.executeQuery()) {
                while (row.next()) {
                    claimed.add(new Claimed(
                            row.getObject(1, UUID.class),
                            row.getObject(2, UUID.class),
                            row.getString(3),
                            row.getString(4),
                            row.getInt(5)));
                }
            }
        }
        return claimed;
    }

    public boolean acknowledge(Connection tx, UUID owner, UUID id) throws SQLException {
        return update(tx, ACKNOWLEDGE, id, owner) == 1;
    }

    public boolean reschedule(Connection tx, UUID owner, UUID id, String error, long delay) throws SQLException {
        return update(tx, RESCHEDULE, error, delay, id, owner) == 1;
    }

    public boolean fail(Connection tx, UUID owner, UUID id, String error) throws SQLException {
        return update(tx, FAIL, error, id, owner) == 1;
    }

    public int reapExpired(Connection tx) throws SQLException {
        return update(tx, REAP);
    }

    public int cleanUp(Connection tx, long olderThan) throws SQLException {
        return update(tx, CLEAN_UP, olderThan);
    }

    private int update(Connection tx, String statement, Object... values) throws SQLException {
        try (PreparedStatement update = prepare(tx, statement)) {
            set(update, values);
            return update.executeUpdate();
        }
    }

    private PreparedStatement prepare(Connection tx, String statement) throws SQLException {
        return tx.prepareStatement(spelling.sql(statement.formatted(table)));
    }

    static void set(PreparedStatement statement, @Nullable Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }
}
