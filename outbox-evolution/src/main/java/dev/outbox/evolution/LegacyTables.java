package dev.outbox.evolution;

/** The legacy tables as they exist in the field, as the statements that create them. */
public final class LegacyTables {
    private static final String OUTBOX = """
            CREATE TABLE %1$s (
                [Id]            uuid        NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
                [MessageId]     uuid        NOT NULL DEFAULT gen_random_uuid(),
                [Topic]         varchar(255) NOT NULL,
                [Payload]       text        NOT NULL,
                [CreatedAt]     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
                [IsProcessed]   boolean     NOT NULL DEFAULT FALSE,
                [ProcessedAt]   timestamptz,
                [ProcessedBy]   varchar(100),
                [RetryCount]    integer     NOT NULL DEFAULT 0,
                [LastError]     text,
                [CorrelationId] varchar(255),
                [DueTimeUtc]    timestamptz,
                [Status]        smallint    NOT NULL DEFAULT 0,
                [LockedUntil]   timestamptz,
                [OwnerToken]    uuid
            );
            CREATE INDEX "IX_%2$s_WorkQueue" ON %1$s ([Status], [CreatedAt]) WHERE [Status] = 0;
            """;

    private static final String INBOX = """
            CREATE TABLE %1$s (
                [MessageId]    varchar(64) NOT NULL PRIMARY KEY,
                [Source]       varchar(64) NOT NULL,
                [Hash]         bytea,
                [FirstSeenUtc] timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
                [LastSeenUtc]  timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
                [ProcessedUtc] timestamptz,
                [DueTimeUtc]   timestamptz,
                [Attempts]     integer     NOT NULL DEFAULT 0,
                [Status]       varchar(16) NOT NULL DEFAULT 'Seen',
                [LastError]    text,
                [LockedUntil]  timestamptz,
                [OwnerToken]   uuid,
                [Topic]        varchar(128),
                [Payload]      text,
                CONSTRAINT "CK_%2$s_Status" CHECK ([Status] IN ('Seen', 'Processing', 'Done', 'Dead'))
            );
            CREATE INDEX "IX_%2$s_WorkQueue" ON %1$s ([Status], [LastSeenUtc]) WHERE [Status] IN ('Seen', 'Processing');
            CREATE INDEX "IX_%2$s_Cleanup" ON %1$s ([ProcessedUtc]) WHERE [Status] = 'Done';
            """;

    private LegacyTables() {}

    /** @param table a plain name, created in the schema in force */
    public static String outbox(Spelling spelling, String table) {
        return spelling.sql(OUTBOX.formatted("\"" + table + "\"", table));
    }

    /** @param table a plain name, created in the schema in force */
    public static String inbox(Spelling spelling, String table) {
        return spelling.sql(INBOX.formatted("\"" + table + "\"", table));
    }
}
