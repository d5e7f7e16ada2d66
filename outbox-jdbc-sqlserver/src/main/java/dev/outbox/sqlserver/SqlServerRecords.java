package dev.outbox.sqlserver;

import dev.outbox.InboxRecord;
import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.CallersTransaction;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.NationalText;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.RecordRow;
import dev.outbox.jdbc.internal.Sql;
import dev.outbox.jdbc.internal.StorableText;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Single records of an inbox, by their identity: looked at, given up, and put back. */
final class SqlServerRecords {
    static final String GET = """
            SELECT {topic} AS topic, {status} AS status, {attempt_count} AS attempt_count,
                {receipt_count} AS receipt_count, CAST({first_seen_on} AS datetimeoffset(7)) AS first_seen_on,
                CAST({last_seen_on} AS datetimeoffset(7)) AS last_seen_on,
                CAST({processed_on} AS datetimeoffset(7)) AS processed_on, {last_error} AS last_error
            FROM {table}
            WHERE {mine} AND {exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
            """;

    /** A record of receive is Done from the start; a work item that is Done has had its effect. */
    static final String MARK_DEAD = """
            SET NOCOUNT ON;
            UPDATE {table} SET {status} = 3, {owner_token} = NULL, {locked_until} = NULL,
                {processed_on} = SYSUTCDATETIME(), {last_error} = CAST(:reason AS nvarchar(2000))
            WHERE {mine} AND {exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
              AND ({status} < 2 OR {status} = 2 AND {topic} IS NULL);
            SELECT @@ROWCOUNT AS changed;
            """;

    /** With a due time, so that no mark of a poller hides it. */
    static final String REQUEUE = """
            SET NOCOUNT ON;
            UPDATE {table} SET {status} = 0, {attempt_count} = 0, {processed_on} = NULL, {blocks_key} = 0,
                {due_on} = SYSUTCDATETIME()
            WHERE {mine} AND {exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256))
              AND {status} = 3 AND {topic} IS NOT NULL
              AND (CAST(:forced AS int) = 1
                OR {first_seen_on} >= DATEADD(second, -CAST(:window_seconds AS int),
                    DATEADD(day, -CAST(:window_days AS int), SYSUTCDATETIME())));
            SELECT @@ROWCOUNT AS changed;
            """;

    /** There is nothing of it to handle: who sends it again makes it new. */
    static final String FORGET = """
            SET NOCOUNT ON;
            DELETE FROM {table}
            WHERE {mine} AND {exact_source} = CAST(:source AS nvarchar(256))
              AND {exact_message_id} = CAST(:message_id AS nvarchar(256)) AND {status} = 3 AND {topic} IS NULL;
            SELECT @@ROWCOUNT AS changed;
            """;

    private final SqlServerTable table;
    private final Connections connections;
    private final Duration window;
    private final Sql get;
    private final Sql markDead;
    private final Sql requeue;
    private final Sql forget;

    SqlServerRecords(SqlServerTable table, Connections connections, Duration window) {
        this.table = table;
        this.connections = connections;
        this.window = window;
        this.get = table.layout().resolve(GET);
        this.markDead = table.layout().resolve(MARK_DEAD);
        this.requeue = table.layout().resolve(REQUEUE);
        this.forget = table.layout().resolve(FORGET);
    }

    Optional<InboxRecord> get(String source, String messageId) {
        try (Borrowed borrowed = connections.autoCommitting();
                Query query = identified(get, borrowed.connection(), source, messageId);
                ResultSet row = query.rows()) {
            return row.next() ? Optional.of(RecordRow.read(row, source, messageId)) : Optional.empty();
        } catch (SQLException e) {
            throw SqlFailure.of("look into " + table.name() + " failed", e);
        }
    }

    boolean markDead(Connection tx, String source, String messageId, String reason) {
        String text = SqlServerSettle.wellFormed(Require.present("reason", reason));
        CallersTransaction.check("markDead", tx);
        try (Query query = identified(markDead, tx, source, messageId)) {
            query.set("reason", new NationalText(text.substring(0, Math.min(text.length(), Settlement.MAX_ERROR))));
            return changed(query) == 1;
        } catch (SQLException e) {
            throw SqlServerLocks.failure("markDead in " + table.name() + " failed", e);
        }
    }

    void requeue(String source, String messageId, boolean forced) {
        int changed;
        try (Borrowed borrowed = connections.autoCommitting()) {
            changed = requeue(borrowed.connection(), source, messageId, forced);
            if (changed == 0 && forced) {
                changed = forget(borrowed.connection(), source, messageId);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("requeue in " + table.name() + " failed", e);
        }
        if (changed == 0) {
            throw new OutboxException("cannot requeue message " + messageId + " from " + source + ": "
                    + get(source, messageId)
                            .map(record -> RecordRow.obstacle(record, window))
                            .orElse("there is no such message"));
        }
    }

    private int requeue(Connection connection, String source, String messageId, boolean forced) throws SQLException {
        try (Query query = identified(requeue, connection, source, messageId)) {
            query.set("forced", forced ? 1 : 0)
                    .set("window_days", (int) window.toDays())
                    .set("window_seconds", (int) (window.toSeconds() % 86_400));
            return changed(query);
        }
    }

    private int forget(Connection connection, String source, String messageId) throws SQLException {
        try (Query query = identified(forget, connection, source, messageId)) {
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

    private static Query identified(Sql sql, Connection connection, String source, String messageId)
            throws SQLException {
        StorableText.check("source", Require.present("source", source));
        StorableText.check("messageId", Require.present("messageId", messageId));
        return sql.on(connection)
                .set("source", new NationalText(source + "."))
                .set("message_id", new NationalText(messageId + "."));
    }
}
