package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.EnqueueStatements;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.inbox.ReceiveStatements;
import dev.outbox.jdbc.internal.queue.DatabaseStatements;
import dev.outbox.jdbc.internal.queue.RemoteWakeUp;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.queue.SourceStatements;
import dev.outbox.jdbc.internal.queue.TableSettings;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.function.IntSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** All that PostgreSQL adds to an outbox or inbox in a table. */
final class PostgresStatements implements DatabaseStatements<PostgresTable> {
    /** No such column, no such table, no such unique index: how a statement fails that was made for another phase. */
    private static final Set<String> CHANGED = Set.of("42703", "42P01", "42P10");

    private static final String LOCK_TIMEOUT = "55P03";

    private final @Nullable DataSource notify;

    /** @param notify connects directly, to wake other processes by NOTIFY; null if that is not wanted */
    PostgresStatements(@Nullable DataSource notify) {
        this.notify = notify;
    }

    @Override
    public PostgresTable find(Connection connection, TableName name, @Nullable String consumer) throws SQLException {
        return consumer == null
                ? PostgresTable.outbox(connection, name)
                : PostgresTable.inbox(connection, name, consumer);
    }

    @Override
    public PostgresTable findAgain(Connection connection, TableName name, @Nullable String consumer)
            throws SQLException {
        return find(connection, name, consumer);
    }

    @Override
    public boolean mayHaveChanged(OutboxException e) {
        return e.sqlState() != null && CHANGED.contains(e.sqlState());
    }

    /** A statement that fails has ended the caller's transaction. */
    @Override
    public boolean isUnharmed(Connection tx) {
        return false;
    }

    @Override
    public OutboxException failure(String what, SQLException e) {
        return SqlFailure.of(
                LOCK_TIMEOUT.equals(e.getSQLState())
                        ? what + ", because another transaction that holds the same message or key took too long;"
                                + " roll back and try again"
                        : what,
                e);
    }

    @Override
    public EnqueueStatements enqueue(PostgresTable table, TableSettings settings) {
        return new PostgresEnqueue(table, settings.strict());
    }

    @Override
    public ReceiveStatements receive(PostgresTable table, TableSettings settings, Duration lockTimeout) {
        return new PostgresReceive(table, settings.strict(), lockTimeout);
    }

    @Override
    public InboxRecords.Statements records(PostgresTable table) {
        return new PostgresRecords(table);
    }

    @Override
    public SourceStatements source(PostgresTable table, SourceSettings settings) {
        return new PostgresSourceStatements(table, settings);
    }

    @Override
    public IntSupplier purge(PostgresTable table, Connections connections, Duration olderThan) {
        PostgresPurge purge = PostgresPurge.ofDone(table, connections, olderThan);
        return () -> purge.batch(Duration.ZERO);
    }

    @Override
    public @Nullable RemoteWakeUp remoteWakeUp(PostgresTable table, TableSettings settings) {
        if (notify == null) {
            return null;
        }
        NotifyConnection.check(notify);
        return new PostgresNotify(notify, table.channel(), !settings.wakesLocally(), NotifyTimes.STANDARD);
    }
}
