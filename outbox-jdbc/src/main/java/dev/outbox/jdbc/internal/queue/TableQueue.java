package dev.outbox.jdbc.internal.queue;

import dev.outbox.Message;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.internal.LocalWakeUp;
import dev.outbox.delivery.internal.Purging;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.WakeUp;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
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
    private final Arrivals arrivals;
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
     * @param arrivals told of what is stored
     */
    public TableQueue(
            TableName name,
            TableSettings settings,
            Supplier<TransactionalSource> sources,
            Function<Duration, IntSupplier> purges,
            Arrivals arrivals,
            @Nullable RemoteWakeUp remote) {
        this.name = name;
        this.settings = settings;
        this.sources = sources;
        this.purges = purges;
        this.arrivals = arrivals;
        this.remote = remote;
    }

    public PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source()).ticker(settings.ticker()).wakeUp(wakeUp);
        if (remote != null) {
            poller.wakeUp(wake -> remote.subscribe(() -> {
                arrivals.storedAny();
                wake.run();
            }));
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
        arrivals.committed();
        if (settings.wakesLocally()) {
            wakeUp.ring();
        }
        if (remote != null) {
            remote.send();
        }
    }

    /** These were stored. */
    public void stored(Connection tx, Collection<Message> messages) {
        arrivals.stored(messages);
        wakeAfter(tx);
    }

    /** Something was stored. */
    public void stored(Connection tx) {
        arrivals.storedAny();
        wakeAfter(tx);
    }

    /** Wakes the pollers once this transaction has committed, where its connection can tell. */
    private void wakeAfter(Connection tx) {
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
