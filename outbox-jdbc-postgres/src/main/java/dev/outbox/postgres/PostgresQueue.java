package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
import dev.outbox.SharedBreakers;
import dev.outbox.internal.LocalWakeUp;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.AfterCommit;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.WakingDataSource;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What is the same for an outbox and an inbox table: sources, pollers, wake-ups and purge. Thread-safe. */
final class PostgresQueue {
    private final LiveTable table;
    private final Connections connections;
    private final PostgresOptions<?> options;
    private final Ack ack;
    private final LocalWakeUp wakeUp = new LocalWakeUp();
    private final SharedBreakers breakers = new SharedBreakers();
    private final @Nullable PostgresNotify notify;

    /** One object, so that many enqueues of a transaction wake once. */
    private final Runnable wakeAll = this::wakeUp;

    PostgresQueue(LiveTable table, Connections connections, PostgresOptions<?> options, Ack ack) {
        this.table = table;
        this.connections = connections;
        this.options = options;
        this.ack = ack;
        DataSource notifying = options.notifying();
        this.notify = notifying == null
                ? null
                : new PostgresNotify(notifying, table.now().channel(), !options.wakesLocally(), NotifyTimes.STANDARD);
    }

    PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source())
                .ticker(options.ticker())
                .breakers(breakers)
                .wakeUp(wakeUp);
        if (notify != null) {
            poller.wakeUp(notify);
        }
        options.listeners().forEach(poller::listener);
        return poller;
    }

    TransactionalSource source() {
        return table.isSettled() ? source(table.now()) : new AdaptingSource(table, table.per(this::source));
    }

    private PostgresSource source(PostgresTable found) {
        return new PostgresSource(found, connections, ack, options.retention(), options.serializer(), options.ticker());
    }

    static DataSource waking(DataSource dataSource) {
        return WakingDataSource.around(Require.present("dataSource", dataSource));
    }

    void wakeUp() {
        if (options.wakesLocally()) {
            wakeUp.ring();
        }
        if (notify != null) {
            notify.send();
        }
    }

    /** Wakes the pollers once this transaction has committed, where its connection can tell. */
    void wakeAfter(Connection tx) {
        try {
            AfterCommit.on(tx, wakeAll);
        } catch (SQLException e) {
            throw SqlFailure.of("enqueue into " + table.now().name() + " failed", e);
        }
    }

    long purge(Duration olderThan) {
        Require.notNegative("olderThan", olderThan);
        Supplier<PostgresPurge> purge = table.per(found -> new PostgresPurge(found, connections, olderThan));
        long removed = 0;
        int batch;
        do {
            batch = table.adapting(() -> purge.get().batch());
            removed += batch;
        } while (batch > 0);
        return removed;
    }
}
