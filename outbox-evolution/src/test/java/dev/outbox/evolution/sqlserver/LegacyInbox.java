package dev.outbox.evolution.sqlserver;

import dev.outbox.evolution.sqlserver.LegacyOutbox.Spelling;
import dev.outbox.sqlserver.SqlServerDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An inbox table of SQL Server as it exists in the field, and the application of the time before that works it: plain SQL
 * against the old columns, with claims that answer by OUTPUT.
 */
final class LegacyInbox {
    /** A message it has claimed. */
    record Claimed(String messageId, String source, String topic, String payload) {}

    private static final String CREATE = """
            CREATE TABLE %1$s (
                [MessageId]    varchar(64)       NOT NULL PRIMARY KEY,
                [Source]       varchar(64)       NOT NULL,
                [Hash]         binary(32)        NULL,
                [FirstSeenUtc] datetime2(3)      NOT NULL DEFAULT SYSUTCDATETIME(),
                [LastSeenUtc]  datetime2(3)      NOT NULL DEFAULT SYSUTCDATETIME(),
                [ProcessedUtc] datetime2(3)      NULL,
                [DueTimeUtc]   datetimeoffset(3) NULL,
                [Attempts]     int               NOT NULL DEFAULT 0,
                [Status]       varchar(16)       NOT NULL DEFAULT 'Seen',
                [LastError]    nvarchar(max)     NULL,
                [LockedUntil]  datetimeoffset(3) NULL,
                [OwnerToken]   uniqueidentifier  NULL,
                [Topic]        nvarchar(128)     NULL,
                [Payload]      nvarchar(max)     NULL,
                CONSTRAINT [CK_%1$s_Status] CHECK ([Status] IN ('Seen', 'Processing', 'Done', 'Dead'))
            );
            CREATE INDEX [IX_%1$s_WorkQueue] ON %1$s ([Status], [LastSeenUtc]) INCLUDE ([LockedUntil], [DueTimeUtc]);
            CREATE INDEX [IX_%1$s_Cleanup] ON %1$s ([Status], [ProcessedUtc]);
            """;

    /** Whatever others have left on the connection: Babelfish does not put it back. */
    private static final String COUNTED = "SET NOCOUNT OFF;\n";

    private static final String SEEN_AGAIN =
            "UPDATE %s SET [LastSeenUtc] = SYSUTCDATETIME(), [Attempts] = [Attempts] + 1 WHERE [MessageId] = ?";

    private static final String SEEN =
            "INSERT INTO %s ([MessageId], [Source], [Attempts], [Status]) VALUES (?, ?, 1, 'Seen')";

    private static final String ENQUEUE =
            "INSERT INTO %s ([MessageId], [Source], [Topic], [Payload], [Attempts], [Status])"
                    + " VALUES (?, ?, ?, ?, 0, 'Seen')";

    private static final String MARK_PROCESSING =
            "UPDATE %s SET [Status] = 'Processing', [LastSeenUtc] = SYSUTCDATETIME() WHERE [MessageId] = ?";

    private static final String MARK_PROCESSED = "UPDATE %s SET [Status] = 'Done', [ProcessedUtc] = SYSUTCDATETIME(),"
            + " [LastSeenUtc] = SYSUTCDATETIME() WHERE [MessageId] = ?";

    private static final String CLAIM = """
            UPDATE %1$s SET [Status] = 'Processing', [OwnerToken] = ?,
                [LockedUntil] = DATEADD(second, 30, SYSUTCDATETIME())
            OUTPUT inserted.[MessageId], inserted.[Source], inserted.[Topic], inserted.[Payload]
            WHERE [Status] = 'Seen' AND [MessageId] IN (
                SELECT TOP (%2$d) [MessageId] FROM %1$s WITH (READPAST, UPDLOCK, ROWLOCK)
                WHERE [Status] = 'Seen' AND [Topic] IS NOT NULL
                  AND ([LockedUntil] IS NULL OR [LockedUntil] <= SYSUTCDATETIME())
                  AND ([DueTimeUtc] IS NULL OR [DueTimeUtc] <= SYSUTCDATETIME())
                ORDER BY [LastSeenUtc])
            """;

    private static final String ACKNOWLEDGE = """
            UPDATE %s SET [Status] = 'Done', [ProcessedUtc] = SYSUTCDATETIME(), [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [MessageId] = ? AND [OwnerToken] = ? AND [Status] = 'Processing'
            """;

    private static final String ABANDON = """
            UPDATE %s SET [Status] = 'Seen', [Attempts] = [Attempts] + 1, [LastError] = N'not now',
                [DueTimeUtc] = SYSUTCDATETIME(), [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [MessageId] = ? AND [OwnerToken] = ? AND [Status] = 'Processing'
            """;

    private static final String FAIL = """
            UPDATE %s SET [Status] = 'Dead', [LastError] = N'refused', [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [MessageId] = ? AND [OwnerToken] = ? AND [Status] = 'Processing'
            """;

    private static final String CLEAN_UP =
            "DELETE FROM %s WHERE [Status] = 'Done' AND [ProcessedUtc] < SYSUTCDATETIME()";

    private final SqlServerDatabase database;
    private final Spelling spelling;
    private final String table;

    /** Creates the table anew. */
    LegacyInbox(SqlServerDatabase database, Spelling spelling, String table) {
        this.database = database;
        this.spelling = spelling;
        this.table = table;
        LegacyOutbox.drop(database, table);
        database.execute(sql(CREATE));
    }

    private String sql(String statement) {
        return spelling.sql(statement.formatted(table));
    }

    /** Records the arrival; true only if the message is Done. */
    boolean alreadyProcessed(Connection tx, String messageId, String source) throws SQLException {
        if (update(tx, SEEN_AGAIN, messageId) == 0) {
            update(tx, SEEN, messageId, source);
        }
        try (PreparedStatement select = tx.prepareStatement(sql("SELECT [Status] FROM %s WHERE [MessageId] = ?"))) {
            select.setString(1, messageId);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getString(1).equals("Done");
            }
        }
    }

    void enqueue(Connection tx, String topic, String source, String messageId, String payload) throws SQLException {
        update(tx, ENQUEUE, messageId, source, topic, payload);
    }

    void markProcessing(Connection tx, String messageId) throws SQLException {
        update(tx, MARK_PROCESSING, messageId);
    }

    void markProcessed(Connection tx, String messageId) throws SQLException {
        update(tx, MARK_PROCESSED, messageId);
    }

    List<Claimed> claim(Connection tx, UUID owner, int batch) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        try (PreparedStatement update = tx.prepareStatement(spelling.sql(CLAIM.formatted(table, batch)))) {
            update.setString(1, owner.toString());
            try (ResultSet row = update.executeQuery()) {
                while (row.next()) {
                    claimed.add(new Claimed(row.getString(1), row.getString(2), row.getString(3), row.getString(4)));
                }
            }
        }
        return claimed;
    }

    boolean acknowledge(Connection tx, UUID owner, String messageId) throws SQLException {
        return update(tx, ACKNOWLEDGE, messageId, owner.toString()) == 1;
    }

    boolean abandon(Connection tx, UUID owner, String messageId) throws SQLException {
        return update(tx, ABANDON, messageId, owner.toString()) == 1;
    }

    boolean fail(Connection tx, UUID owner, String messageId) throws SQLException {
        return update(tx, FAIL, messageId, owner.toString()) == 1;
    }

    int cleanUp(Connection tx) throws SQLException {
        return update(tx, CLEAN_UP);
    }

    /** A row as the old application left it at some time. */
    void row(String messageId, String status, int minutesAgo, @Nullable String topic) {
        database.execute(sql("INSERT INTO %s ([MessageId], [Source], [Topic], [Payload], [FirstSeenUtc], [LastSeenUtc],"
                + " [ProcessedUtc], [Status]) SELECT '" + messageId + "', 'shop', "
                + (topic == null ? "NULL, NULL" : "N'" + topic + "', N'" + messageId + "'") + ", a.t, a.t, "
                + (status.equals("Done") ? "a.t" : "NULL") + ", '" + status + "' FROM (SELECT DATEADD(minute, -"
                + minutesAgo + ", SYSUTCDATETIME()) AS t) a"));
    }

    private int update(Connection tx, String statement, String... values) throws SQLException {
        try (PreparedStatement update = tx.prepareStatement(COUNTED + sql(statement))) {
            for (int i = 0; i < values.length; i++) {
                update.setString(i + 1, values[i]);
            }
            return update.executeUpdate();
        }
    }
}
