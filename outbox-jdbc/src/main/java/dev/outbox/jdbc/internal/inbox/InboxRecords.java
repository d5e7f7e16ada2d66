package dev.outbox.jdbc.internal.inbox;

import dev.outbox.InboxRecord;
import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Single records of an inbox, by their identity: looked up, given up and requeued. Thread-safe. */
public final class InboxRecords {
    private final TableName table;
    private final Connections connections;
    private final Duration window;
    private final Statements statements;

    /** The statements of one database. A number says how many records were changed. */
    public interface Statements {
        /** Ready to run; it answers what {@link RecordRow} reads. */
        Query get(Connection connection, Identity identity) throws SQLException;

        /** In the caller's transaction. */
        int markDead(Connection tx, Identity identity, String reason) throws SQLException;

        int requeue(Connection connection, Identity identity, boolean forced, Duration window) throws SQLException;

        int forget(Connection connection, Identity identity) throws SQLException;
    }

    /** @param window how long ago a message may have come to be requeued without force */
    public InboxRecords(TableName table, Connections connections, Duration window, Statements statements) {
        this.table = table;
        this.connections = connections;
        this.window = window;
        this.statements = statements;
    }

    public Optional<InboxRecord> get(String source, String messageId) {
        return get(Identity.of(source, messageId));
    }

    private Optional<InboxRecord> get(Identity identity) {
        try (BorrowedConnection borrowed = connections.autoCommitting();
                Query query = statements.get(borrowed.connection(), identity);
                ResultSet row = query.rows()) {
            return row.next() ? Optional.of(RecordRow.read(row, identity)) : Optional.empty();
        } catch (SQLException e) {
            throw SqlFailure.of("lookup in " + table + " failed", e);
        }
    }

    /** Whether there was such a record to give up. */
    public boolean markDead(Connection tx, String source, String messageId, String reason) throws SQLException {
        Require.present("reason", reason);
        // the cut may go through the middle of a character
        String text = StorableText.wellFormed(reason.substring(0, Math.min(reason.length(), Settlement.MAX_ERROR)));
        CallersTransaction.check("markDead", tx);
        return statements.markDead(tx, Identity.of(source, messageId), text) == 1;
    }

    /** A record that cannot be requeued is an exception. */
    public void requeue(String source, String messageId, boolean forced) {
        Identity identity = Identity.of(source, messageId);
        int changed;
        try (BorrowedConnection borrowed = connections.autoCommitting()) {
            changed = statements.requeue(borrowed.connection(), identity, forced, window);
            if (changed == 0 && forced) {
                changed = statements.forget(borrowed.connection(), identity);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("requeue in " + table + " failed", e);
        }
        if (changed == 0) {
            throw new OutboxException("cannot requeue message " + messageId + " from " + source + ": "
                    + get(identity)
                            .map(record -> RecordRow.obstacle(record, window))
                            .orElse("there is no such message"));
        }
    }
}
