package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Single records of an inbox, by their identity. Thread-safe. */
final class SqlServerRecords implements InboxRecords.Statements {
    static final String GET = """
            SELECT {topic} AS topic, {status} AS status, {attempt_count} AS attempt_count,
                {receipt_count} AS receipt_count, CAST({first_seen_on} AS datetimeoffset(7)) AS first_seen_on,
                CAST({last_seen_on} AS datetimeoffset(7)) AS last_seen_on,
                CAST({processed_on} AS datetimeoffset(7)) AS processed_on, {last_error} AS last_error
            FROM {table}
            WHERE {mine} AND {of_message}{exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
            """;

    /** A record of receive is Done from the start; a work item that is Done has had its effect. */
    static final String MARK_DEAD = """
            SET NOCOUNT ON;
            UPDATE {table} SET {status = 3}, {owner_token = NULL}, {locked_until = NULL},
                {processed_on = SYSUTCDATETIME()}, {last_error = CAST(:reason AS nvarchar(2000))}
            WHERE {mine} AND {of_message}{exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
              AND ({status} < 2 OR {status} = 2 AND {topic} IS NULL);
            SELECT @@ROWCOUNT AS changed;
            """;

    /** With a due time, so that pollers find it whatever their low-water marks. Its age counts from that time. */
    static final String REQUEUE = """
            SET NOCOUNT ON;
            UPDATE {table} SET {status = 0}, {attempt_count = 0}, {processed_on = NULL}, {blocks_key = 0},
                {due_on = SYSUTCDATETIME()}, {first_due_on = NULL}
            WHERE {mine} AND {of_message}{exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
              AND {status} = 3 AND {has_topic}
              AND (CAST(:forced AS int) = 1
                OR {first_seen_on} >= DATEADD(second, -CAST(:window_seconds AS int),
                    DATEADD(day, -CAST(:window_days AS int), SYSUTCDATETIME())));
            SELECT @@ROWCOUNT AS changed;
            """;

    /** Such a record has nothing to handle; without it the message is new when it is sent again. */
    static final String FORGET = """
            SET NOCOUNT ON;
            DELETE FROM {table}
            WHERE {mine} AND {of_message}{exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256)) AND {status} = 3 AND {topic} IS NULL;
            SELECT @@ROWCOUNT AS changed;
            """;

    private final SqlServerTable table;
    private final Sql get;
    private final Sql markDead;
    private final Sql requeue;
    private final Sql forget;

    SqlServerRecords(SqlServerTable table) {
        this.table = table;
        this.get = table.layout().resolve(GET);
        this.markDead = table.layout().resolve(MARK_DEAD);
        this.requeue = table.layout().resolve(REQUEUE);
        this.forget = table.layout().resolve(FORGET);
    }

    @Override
    public Query get(Connection connection, Identity identity) throws SQLException {
        return identified(get, connection, identity);
    }

    @Override
    public int markDead(Connection tx, Identity identity, String reason) throws SQLException {
        SqlServerChange.begin(tx, table);
        try (Query query = identified(markDead, tx, identity)) {
            return changed(query.set("reason", new NationalText(reason)));
        }
    }

    @Override
    public int requeue(Connection connection, Identity identity, boolean forced, Duration window) throws SQLException {
        try (Query query = identified(requeue, connection, identity)) {
            return changed(query.set("forced", forced ? 1 : 0)
                    .set("window_days", (int) window.toDays())
                    .set("window_seconds", (int) (window.toSeconds() % 86_400)));
        }
    }

    @Override
    public int forget(Connection connection, Identity identity) throws SQLException {
        try (Query query = identified(forget, connection, identity)) {
            return changed(query);
        }
    }

    /** Asked of the server, because an update count depends on the session's NOCOUNT. */
    private static int changed(Query query) throws SQLException {
        try (ResultSet row = query.rows()) {
            row.next();
            return row.getInt("changed");
        }
    }

    private static Query identified(Sql sql, Connection connection, Identity identity) throws SQLException {
        return sql.on(connection)
                .set("source", new NationalText(identity.source() + "."))
                .set("message_id", new NationalText(identity.messageId() + "."));
    }
}
