package dev.outbox.postgres;

import dev.outbox.InboxRecord;
import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.CallersTransaction;
import dev.outbox.jdbc.internal.Connections;
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
final class PostgresRecords {
    private static final String GET = """
            SELECT {topic} AS topic, {status} AS status, {attempt_count} AS attempt_count,
                {receipt_count} AS receipt_count, {first_seen_on} AS first_seen_on, {last_seen_on} AS last_seen_on,
                {processed_on} AS processed_on, {last_error} AS last_error
            FROM {table}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
            """;

    /** A record of receive is Done from the start; a work item that is Done has had its effect. */
    private static final String MARK_DEAD = """
            UPDATE {table} SET {status} = 3, {owner_token} = NULL, {locked_until} = NULL,
                {processed_on} = statement_timestamp(), {last_error} = :reason
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
              AND ({status} < 2 OR {status} = 2 AND {topic} IS NULL)
            """;

    /** With a due time, so that no mark of a poller hides it. */
    private static final String REQUEUE = """
            UPDATE {table} SET {status} = 0, {attempt_count} = 0, {processed_on} = NULL, {blocks_key} = false,
                {due_on} = statement_timestamp()
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
              AND {status} = 3 AND {topic} IS NOT NULL
              AND (:forced OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond')
            """;

    /** There is nothing of it to handle: who sends it again makes it new. */
    private static final String FORGET = """
            DELETE FROM {table}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id AND {status} = 3 AND {topic} IS NULL
            """;

    private final PostgresTable table;
    private final Connections connections;
    private final Duration window;
    private final Sql get;
    private final Sql markDead;
    private final Sql requeue;
    private final Sql forget;

    PostgresRecords(PostgresTable table, Connections connections, Duration window) {
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
        String text = Require.present("reason", reason).replace('\0', '\uFFFD');
        CallersTransaction.check("markDead", tx);
        try (Query query = identified(markDead, tx, source, messageId)) {
            return query.set("reason", text.substring(0, Math.min(text.length(), Settlement.MAX_ERROR)))
                            .update()
                    == 1;
        } catch (SQLException e) {
            throw SqlFailure.of("markDead in " + table.name() + " failed", e);
        }
    }

    /** Answers true; what cannot be requeued is an exception. */
    boolean requeue(String source, String messageId, boolean forced) {
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
        return true;
    }

    private int requeue(Connection connection, String source, String messageId, boolean forced) throws SQLException {
        try (Query query = identified(requeue, connection, source, messageId)) {
            return query.set("forced", forced).set("window", window).update();
        }
    }

    private int forget(Connection connection, String source, String messageId) throws SQLException {
        try (Query query = identified(forget, connection, source, messageId)) {
            return query.update();
        }
    }

    private static Query identified(Sql sql, Connection connection, String source, String messageId)
            throws SQLException {
        StorableText.check("source", Require.present("source", source));
        StorableText.check("messageId", Require.present("messageId", messageId));
        return sql.on(connection).set("source", source).set("message_id", messageId);
    }
}
