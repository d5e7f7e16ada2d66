package dev.outbox.evolution.sqlserver;

import dev.outbox.sqlserver.SqlServerDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An outbox table of SQL Server as it exists in the field, and the application of the time before that works it: plain SQL
 * against the old columns, with claims that answer by OUTPUT.
 */
final class LegacyOutbox {
    /** How columns are spelled. */
    enum Spelling {
        PASCAL,
        SNAKE,
        CAMEL;

        private static final Pattern NAME = Pattern.compile("\\[(\\w+)]");

        String sql(String statement) {
            return NAME.matcher(statement)
                    .replaceAll(name -> Matcher.quoteReplacement("[" + spelled(name.group(1)) + "]"));
        }

        private String spelled(String name) {
            if (name.matches("(IX|CK)_.*")) {
                return name;
            }
            return switch (this) {
                case PASCAL -> name;
                case SNAKE -> name.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
                case CAMEL -> name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
            };
        }
    }

    /** A message it has claimed. */
    record Claimed(UUID id, UUID messageId, String topic, String payload, int retryCount) {}

    private static final String CREATE = """
            CREATE TABLE %1$s (
                [Id]            uniqueidentifier  NOT NULL PRIMARY KEY DEFAULT NEWID(),
                [Payload]       nvarchar(max)     NOT NULL,
                [Topic]         nvarchar(255)     NOT NULL,
                [CreatedAt]     datetimeoffset(7) NOT NULL DEFAULT SYSDATETIMEOFFSET(),
                [IsProcessed]   bit               NOT NULL DEFAULT 0,
                [ProcessedAt]   datetimeoffset(7) NULL,
                [ProcessedBy]   nvarchar(100)     NULL,
                [RetryCount]    int               NOT NULL DEFAULT 0,
                [LastError]     nvarchar(max)     NULL,
                [MessageId]     uniqueidentifier  NOT NULL DEFAULT NEWID(),
                [CorrelationId] nvarchar(255)     NULL,
                [DueTimeUtc]    datetimeoffset(3) NULL,
                [Status]        tinyint           NOT NULL DEFAULT 0,
                [LockedUntil]   datetimeoffset(3) NULL,
                [OwnerToken]    uniqueidentifier  NULL
            );
            CREATE INDEX [IX_%1$s_WorkQueue] ON %1$s ([Status], [CreatedAt]) INCLUDE ([LockedUntil], [DueTimeUtc])
                WHERE [Status] = 0;
            """;

    /** Whatever others have left on the connection: Babelfish does not put it back. */
    private static final String COUNTED = "SET NOCOUNT OFF;\n";

    private static final String ENQUEUE =
            "INSERT INTO %s ([Id], [MessageId], [Topic], [Payload], [CorrelationId]) VALUES (?, ?, ?, ?, ?)";

    private static final String CLAIM = """
            WITH ready AS (
                SELECT TOP (%2$d) [Id], [MessageId], [Topic], [Payload], [RetryCount], [Status], [OwnerToken], [LockedUntil]
                FROM %1$s WITH (READPAST, UPDLOCK, ROWLOCK)
                WHERE [Status] = 0 AND ([LockedUntil] IS NULL OR [LockedUntil] <= SYSUTCDATETIME())
                  AND ([DueTimeUtc] IS NULL OR [DueTimeUtc] <= SYSUTCDATETIME())
                ORDER BY [CreatedAt])
            UPDATE ready SET [Status] = 1, [OwnerToken] = ?, [LockedUntil] = DATEADD(second, 30, SYSUTCDATETIME())
            OUTPUT inserted.[Id], inserted.[MessageId], inserted.[Topic], inserted.[Payload], inserted.[RetryCount]
            """;

    /** The same, for a server that knows no UPDATE of a common table expression. */
    private static final String CLAIM_BY_ID = """
            UPDATE %1$s SET [Status] = 1, [OwnerToken] = ?, [LockedUntil] = DATEADD(second, 30, SYSUTCDATETIME())
            OUTPUT inserted.[Id], inserted.[MessageId], inserted.[Topic], inserted.[Payload], inserted.[RetryCount]
            WHERE [Status] = 0 AND [Id] IN (
                SELECT TOP (%2$d) [Id] FROM %1$s WITH (READPAST, UPDLOCK, ROWLOCK)
                WHERE [Status] = 0 AND ([LockedUntil] IS NULL OR [LockedUntil] <= SYSUTCDATETIME())
                  AND ([DueTimeUtc] IS NULL OR [DueTimeUtc] <= SYSUTCDATETIME())
                ORDER BY [CreatedAt])
            """;

    private static final String ACKNOWLEDGE = """
            UPDATE %s SET [Status] = 2, [IsProcessed] = 1, [ProcessedAt] = SYSUTCDATETIME(), [ProcessedBy] = N'old',
                [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String RESCHEDULE = """
            UPDATE %s SET [Status] = 0, [RetryCount] = [RetryCount] + 1, [LastError] = N'not now',
                [DueTimeUtc] = SYSUTCDATETIME(), [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String FAIL = """
            UPDATE %s SET [Status] = 3, [LastError] = N'refused', [OwnerToken] = NULL, [LockedUntil] = NULL
            WHERE [Id] = ? AND [OwnerToken] = ? AND [Status] = 1
            """;

    private static final String CLEAN_UP =
            "DELETE FROM %s WHERE [IsProcessed] = 1 AND [ProcessedAt] < SYSUTCDATETIME()";

    private final SqlServerDatabase database;
    private final Spelling spelling;
    private final String table;

    /** Creates the table anew. */
    LegacyOutbox(SqlServerDatabase database, Spelling spelling, String table) {
        this.database = database;
        this.spelling = spelling;
        this.table = table;
        drop(database, table);
        database.execute(spelling.sql(CREATE.formatted(table)));
    }

    static void drop(SqlServerDatabase database, String table) {
        database.execute("DROP TABLE IF EXISTS " + table);
        database.execute("DROP TABLE IF EXISTS " + table + "_backfill");
        database.execute("DROP SEQUENCE IF EXISTS " + table + "_sequence");
    }

    /** The statements of the application, for those who want to read them. */
    static List<String> statements(String table) {
        return List.of(
                CREATE.formatted(table),
                ENQUEUE.formatted(table),
                CLAIM_BY_ID.formatted(table, 1),
                ACKNOWLEDGE.formatted(table),
                RESCHEDULE.formatted(table),
                FAIL.formatted(table),
                CLEAN_UP.formatted(table));
    }

    String sql(String statement) {
        return spelling.sql(statement);
    }

    /** Stores a message and answers its logical id. */
    UUID enqueue(Connection tx, String topic, String payload) throws SQLException {
        UUID messageId = UUID.randomUUID();
        try (PreparedStatement insert = tx.prepareStatement(sql(ENQUEUE.formatted(table)))) {
            insert.setString(1, UUID.randomUUID().toString());
            insert.setString(2, messageId.toString());
            insert.setNString(3, topic);
            insert.setNString(4, payload);
            insert.setNString(5, null);
            insert.executeUpdate();
        }
        return messageId;
    }

    List<Claimed> claim(Connection tx, UUID owner, int batch) throws SQLException {
        String claim = (database.isBabelfish() ? CLAIM_BY_ID : CLAIM).formatted(table, batch);
        List<Claimed> claimed = new ArrayList<>();
        try (PreparedStatement update = tx.prepareStatement(sql(claim))) {
            update.setString(1, owner.toString());
            try (ResultSet row = update.executeQuery()) {
                while (row.next()) {
                    claimed.add(new Claimed(
                            UUID.fromString(row.getString(1)),
                            UUID.fromString(row.getString(2)),
                            row.getString(3),
                            row.getString(4),
                            row.getInt(5)));
                }
            }
        }
        return claimed;
    }

    boolean acknowledge(Connection tx, UUID owner, UUID id) throws SQLException {
        return settle(tx, ACKNOWLEDGE, owner, id);
    }

    boolean reschedule(Connection tx, UUID owner, UUID id) throws SQLException {
        return settle(tx, RESCHEDULE, owner, id);
    }

    boolean fail(Connection tx, UUID owner, UUID id) throws SQLException {
        return settle(tx, FAIL, owner, id);
    }

    private boolean settle(Connection tx, String statement, UUID owner, UUID id) throws SQLException {
        try (PreparedStatement update = tx.prepareStatement(COUNTED + sql(statement.formatted(table)))) {
            update.setString(1, id.toString());
            update.setString(2, owner.toString());
            return update.executeUpdate() == 1;
        }
    }

    int cleanUp(Connection tx) throws SQLException {
        try (PreparedStatement delete = tx.prepareStatement(COUNTED + sql(CLEAN_UP.formatted(table)))) {
            return delete.executeUpdate();
        }
    }

    /** A row as the old application left it at some time. */
    void row(String payload, int status, int minutesAgo, @Nullable String error) {
        database.execute(sql("INSERT INTO " + table + " ([Topic], [Payload], [CreatedAt], [Status], [IsProcessed],"
                + " [ProcessedAt], [LastError]) VALUES (N'orders', '" + payload + "', DATEADD(minute, -" + minutesAgo
                + ", SYSDATETIMEOFFSET()), " + status + ", " + (status == 2 ? 1 : 0) + ", "
                + (status == 2 ? "DATEADD(minute, -" + minutesAgo + ", SYSDATETIMEOFFSET())" : "NULL") + ", "
                + (error == null ? "NULL" : "N'" + error + "'") + ")"));
    }
}
