package dev.outbox.jdbc.internal;

import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
import dev.outbox.internal.LocalWakeUp;
import dev.outbox.internal.Purging;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.WakeUp;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What is the same for an outbox and an inbox table: sources, pollers, wake-ups and purge. Thread-safe. */
public final class TableQueue {
    private final TableName name;
    private final TableSettings settings;
    private final Supplier<TransactionalSource> sources;
    private final Function<Duration, IntSupplier> purges;
    private final @Nullable RemoteWakeUp remote;
    private final LocalWakeUp wakeUp = new LocalWakeUp();

    /** One object, so that many enqueues of a transaction wake once. */
    private final Runnable wakeAll = this::wakeUp;

    /** Wakes pollers of other processes, and those of this one when another process does. */
    public interface RemoteWakeUp extends WakeUp {
        void send();
    }

    /**
     * @param name of the table as it was found
     * @param purges what removes rows older than this, a batch per call
     */
    public TableQueue(
            TableName name,
            TableSettings settings,
            Supplier<TransactionalSource> sources,
            Function<Duration, IntSupplier> purges,
            @Nullable RemoteWakeUp remote) {
        this.name = name;
        this.settings = settings;
        this.sources = sources;
        this.purges = purges;
        this.remote = remote;
    }

    public PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source()).ticker(settings.ticker()).wakeUp(wakeUp);
        if (remote != null) {
            poller.wakeUp(remote);
        }
        settings.listeners().forEach(poller::listener);
        return poller;
    }

    public TransactionalSource source() {
        return sources.get();
    }

    public static DataSource waking(DataSource dataSource) {
        return WakingDataSource.around(Require.present("dataSource", dataSource));
    }

    public void wakeUp() {
        if (settings.wakesLocally()) {
            wakeUp.ring();
        }
        if (remote != null) {
            remote.send();
        }
    }

    /** Wakes the pollers once this transaction has committed, where its connection can tell. */
    public void wakeAfter(Connection tx) {
        try {
            AfterCommit.on(tx, wakeAll);
        } catch (SQLException e) {
            throw SqlFailure.of("enqueue into " + name + " failed", e);
        }
    }

    public long purge(Duration olderThan) {
        IntSupplier purge = purges.apply(Require.notNegative("olderThan", olderThan));
        return Purging.byHand().run(purge::getAsInt);
    }
}
