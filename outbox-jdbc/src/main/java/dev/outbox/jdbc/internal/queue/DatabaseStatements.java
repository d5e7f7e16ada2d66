package dev.outbox.jdbc.internal.queue;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.EnqueueStatements;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.inbox.ReceiveStatements;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All that differs between databases: how a table is found, and the statements for a table as it was found. Everything else
 * of an outbox or inbox is {@link TableOutbox} and {@link TableInbox}. Thread-safe.
 *
 * @param <T> what this database knows of a table
 */
public interface DatabaseStatements<T extends LiveTable.Seen> {
    /**
     * Looks at a table for the first time.
     *
     * @param consumer who receives through the inbox; null for an outbox
     * @throws OutboxException if there is no such table, or it cannot be used
     */
    T find(Connection connection, TableName name, @Nullable String consumer) throws SQLException;

    /** Looks at a table that is in use, while a migration may change it. */
    T findAgain(Connection connection, TableName name, @Nullable String consumer) throws SQLException;

    /** Whether a statement may have failed because a migration has changed the table since the statement was made. */
    boolean mayHaveChanged(OutboxException e);

    /** Whether a caller's transaction can go on after such a failure. */
    boolean isUnharmed(Connection tx);

    /** What failed in a caller's transaction, and what the caller can do. */
    OutboxException failure(String what, SQLException e);

    EnqueueStatements enqueue(T table, TableSettings settings);

    /** @param lockTimeout how long to wait for another transaction that holds the same message or key */
    ReceiveStatements receive(T table, TableSettings settings, Duration lockTimeout);

    InboxRecords.Statements records(T table);

    SourceStatements source(T table, SourceSettings settings);

    /** Removes one batch of Done rows that ended longer ago than this each time it is called, and answers its size. */
    IntSupplier purge(T table, Connections connections, Duration olderThan);

    /** Wakes pollers in other processes; null if that is not wanted. */
    @Nullable
    RemoteWakeUp remoteWakeUp(T table, TableSettings settings);
}
