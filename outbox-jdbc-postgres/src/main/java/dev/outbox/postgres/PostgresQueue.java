package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.TableQueue;
import dev.outbox.jdbc.internal.TableSettings;
import javax.sql.DataSource;

/** Makes the queue of an outbox or inbox table. */
final class PostgresQueue {
    private PostgresQueue() {}

    static TableQueue over(
            PostgresTable table, Connections connections, TableSettings settings, Ack ack, PostgresOptions<?> options) {
        DataSource notifying = options.notifying();
        return new TableQueue(
                table.name(),
                settings,
                () -> new PostgresSource(
                        table, connections, ack, settings.retention(), settings.serializer(), settings.ticker()),
                olderThan -> new PostgresPurge(table, connections, olderThan)::batch,
                notifying == null
                        ? null
                        : new PostgresNotify(
                                notifying, table.channel(), !settings.wakesLocally(), NotifyTimes.STANDARD));
    }
}
