package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.jdbc.internal.queue.AdaptingSource;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.queue.TableQueue;
import dev.outbox.jdbc.internal.queue.TableSettings;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.spi.TransactionalSource;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Makes the queue of an outbox or inbox table. */
final class PostgresQueue {
    private PostgresQueue() {}

    static TableQueue over(
            LiveTable<PostgresTable> table,
            Connections connections,
            TableSettings settings,
            Ack ack,
            PostgresOptions<?> options) {
        Arrivals arrivals = new Arrivals();
        Function<PostgresTable, PostgresSource> source = found -> new PostgresSource(
                found,
                connections,
                ack,
                settings.retention(),
                settings.deadRetention(),
                settings.serializer(),
                settings.ticker(),
                arrivals);
        DataSource notifying = options.notifying();
        return new TableQueue(
                table.now().name(),
                settings,
                () -> source(table, source),
                olderThan -> purge(table, connections, olderThan),
                arrivals,
                notifying == null
                        ? null
                        : new PostgresNotify(
                                notifying, table.now().channel(), !settings.wakesLocally(), NotifyTimes.STANDARD));
    }

    private static TransactionalSource source(
            LiveTable<PostgresTable> table, Function<PostgresTable, PostgresSource> source) {
        return table.isSettled() ? source.apply(table.now()) : new AdaptingSource(table, table.per(source));
    }

    private static IntSupplier purge(LiveTable<PostgresTable> table, Connections connections, Duration olderThan) {
        Supplier<PostgresPurge> purge = table.per(found -> PostgresPurge.ofDone(found, connections, olderThan));
        return () -> table.adapting(() -> purge.get().batch(Duration.ZERO));
    }
}
