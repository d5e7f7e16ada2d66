package dev.outbox.jdbc.internal.inbox;

import dev.outbox.InboxRecord;
import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Single records of an inbox, by their identity: looked at, given up, and put back. Thread-safe. */
public final class InboxRecords {
    private final TableName table;
    private final Connections connections;
    private final Duration window;
    private final Statements statements;

    /** What a database is asked for; a number is how many records were changed. */
    public interface Statements {
        Optional<InboxRecord> get(Connection connection, String source, String messageId) throws SQLException;

        int markDead(Connection tx, String source, String messageId, String reason) throws SQLException;

        int requeue(Connection connection, String source, String messageId, boolean forced, Duration window)
                throws SQLException;

        int forget(Connection connection, String source, String messageId) throws SQLException;

        /** What went wrong in a caller's transaction. */
        OutboxException failure(String what, SQLException e);
    }

    /** @param window how long ago a message may have come to be requeued without force */
    public InboxRecords(TableName table, Connections connections, Duration window, Statements statements) {
        this.table = table;
        this.connections = connections;
        this.window = window;
        this.statements = statements;
    }

    public Optional<InboxRecord> get(String source, String messageId) {
        check(source, messageId);
        try (BorrowedConnection borrowed = connections.autoCommitting()) {
            return statements.get(borrowed.connection(), source, messageId);
        } catch (SQLException e) {
            throw SqlFailure.of("look into " + table + " failed", e);
        }
    }

    public boolean markDead(Connection tx, String source, String messageId, String reason) {
        Require.present("reason", reason);
        // the cut may go through the middle of a character
        String text = StorableText.wellFormed(reason.substring(0, Math.min(reason.length(), Settlement.MAX_ERROR)));
        CallersTransaction.check("markDead", tx);
        check(source, messageId);
        try {
            return statements.markDead(tx, source, messageId, text) == 1;
        } catch (SQLException e) {
            throw statements.failure("markDead in " + table + " failed", e);
        }
    }

    /** What cannot be requeued is an exception. */
    public void requeue(String source, String messageId, boolean forced) {
        check(source, messageId);
        int changed;
        try (BorrowedConnection borrowed = connections.autoCommitting()) {
            changed = statements.requeue(borrowed.connection(), source, messageId, forced, window);
            if (changed == 0 && forced) {
                changed = statements.forget(borrowed.connection(), source, messageId);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("requeue in " + table + " failed", e);
        }
        if (changed == 0) {
            throw new OutboxException("cannot requeue message " + messageId + " from " + source + ": "
                    + get(source, messageId)
                            .map(record -> RecordRow.obstacle(record, window))
                            .orElse("there is no such message"));
        }
    }

    private static void check(String source, String messageId) {
        StorableText.check("source", Require.present("source", source));
        StorableText.check("messageId", Require.present("messageId", messageId));
    }
}
