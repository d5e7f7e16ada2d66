package dev.outbox.sqlserver;

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

/** Makes the queue of an outbox or inbox table. */
final class SqlServerQueue {
    private SqlServerQueue() {}

    static TableQueue over(LiveTable<SqlServerTable> table, Connections connections, TableSettings settings, Ack ack) {
        Arrivals arrivals = new Arrivals();
        Function<SqlServerTable, SqlServerSource> source = found -> new SqlServerSource(
                found,
                connections,
                ack,
                settings.retention(),
                settings.deadRetention(),
                settings.serializer(),
                settings.ticker(),
                arrivals);
        return new TableQueue(
                table.now().name(),
                settings,
                () -> source(table, source),
                olderThan -> purge(table, connections, olderThan),
                arrivals,
                null);
    }

    private static TransactionalSource source(
            LiveTable<SqlServerTable> table, Function<SqlServerTable, SqlServerSource> source) {
        return table.isSettled() ? source.apply(table.now()) : new AdaptingSource(table, table.per(source));
    }

    private static IntSupplier purge(LiveTable<SqlServerTable> table, Connections connections, Duration olderThan) {
        Supplier<SqlServerPurge> purge = table.per(found -> SqlServerPurge.ofDone(found, connections, olderThan));
        return () -> table.adapting(() -> purge.get().batch(Duration.ZERO));
    }
}
