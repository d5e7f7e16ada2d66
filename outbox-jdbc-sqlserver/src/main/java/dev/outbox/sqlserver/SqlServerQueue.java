package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.TableQueue;
import dev.outbox.jdbc.internal.TableSettings;

/** Makes the queue of an outbox or inbox table. */
final class SqlServerQueue {
    private SqlServerQueue() {}

    static TableQueue over(SqlServerTable table, Connections connections, TableSettings settings, Ack ack) {
        return new TableQueue(
                table.name(),
                settings,
                () -> new SqlServerSource(
                        table,
                        connections,
                        ack,
                        settings.retention(),
                        settings.deadRetention(),
                        settings.serializer(),
                        settings.ticker()),
                olderThan -> SqlServerPurge.ofDone(table, connections, olderThan)::batch,
                null);
    }
}
