package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
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
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** All that SQL Server adds to an outbox or inbox in a table. */
final class SqlServerStatements implements DatabaseStatements<SqlServerTable> {
    @Override
    public SqlServerTable find(Connection connection, TableName name, @Nullable String consumer) throws SQLException {
        return find(connection, name, consumer, SqlServerTable.Look.FIRST);
    }

    @Override
    public SqlServerTable findAgain(Connection connection, TableName name, @Nullable String consumer)
            throws SQLException {
        return find(connection, name, consumer, SqlServerTable.Look.AGAIN);
    }

    private static SqlServerTable find(
            Connection connection, TableName name, @Nullable String consumer, SqlServerTable.Look look)
            throws SQLException {
        return consumer == null
                ? SqlServerTable.outbox(connection, name, look)
                : SqlServerTable.inbox(connection, name, consumer, look);
    }

    @Override
    public boolean mayHaveChanged(OutboxException e) {
        return SqlServerChange.isBehind(e);
    }

    @Override
    public boolean isUnharmed(Connection tx) {
        return SqlServerChange.isUnharmed(tx);
    }

    @Override
    public OutboxException failure(String what, SQLException e) {
        return SqlServerLocks.failure(what, e);
    }

    @Override
    public EnqueueStatements enqueue(SqlServerTable table, TableSettings settings) {
        return new SqlServerEnqueue(table, settings.strict());
    }

    @Override
    public ReceiveStatements receive(SqlServerTable table, TableSettings settings, Duration lockTimeout) {
        return new SqlServerReceive(table, settings.strict(), lockTimeout);
    }

    @Override
    public InboxRecords.Statements records(SqlServerTable table) {
        return new SqlServerRecords(table);
    }

    @Override
    public SourceStatements source(SqlServerTable table, SourceSettings settings) {
        return new SqlServerSourceStatements(table, settings);
    }

    @Override
    public IntSupplier purge(SqlServerTable table, Connections connections, Duration olderThan) {
        SqlServerPurge purge = SqlServerPurge.ofDone(table, connections, olderThan);
        return () -> purge.batch(Duration.ZERO);
    }

    @Override
    public @Nullable RemoteWakeUp remoteWakeUp(SqlServerTable table, TableSettings settings) {
        return null;
    }
}
