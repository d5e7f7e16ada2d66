package dev.outbox.postgres;

import dev.outbox.delivery.internal.LocalWakeUp;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.queue.RemoteWakeUp;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;

/**
 * Wakes pollers in other processes by NOTIFY: {@link NotifySender} sends, and while a poller of this process
 * subscribes, {@link NotifyListener} listens. Each has one connection of a data source of its own and a daemon
 * thread that ends by itself, so there is nothing to close. Thread-safe.
 */
final class PostgresNotify implements RemoteWakeUp {
    private final DataSource dataSource;
    private final String channel;
    private final boolean ownAreNews;
    private final NotifyTimes times;
    private final NotifySender sender;
    private final LocalWakeUp pollers = new LocalWakeUp();

    private int subscribers;
    private @Nullable NotifyListener listener;

    /** @param ownAreNews whether our own notifications wake our own pollers: not if those are woken locally */
    PostgresNotify(DataSource dataSource, String channel, boolean ownAreNews, NotifyTimes times) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.ownAreNews = ownAreNews;
        this.times = times;
        this.sender = new NotifySender(dataSource, channel, times);
    }

    /** The data source that a user gives to notify, which must not be that of the table. */
    static DataSource own(DataSource own, DataSource ofTable) {
        Require.present("notify", own);
        if (own == ofTable) {
            throw new IllegalArgumentException("notify(...) needs a DataSource of its own, was that of the table: it"
                    + " keeps its connections, which the pool would then lack; give it one that connects directly");
        }
        return own;
    }

    @Override
    public void send() {
        sender.sendWakeUp();
    }

    @Override
    public synchronized Subscription subscribe(Runnable wake) {
        Subscription poller = pollers.subscribe(wake);
        if (subscribers++ == 0) {
            listener = new NotifyListener(dataSource, channel, times, sender, this::isNews, pollers::ring);
            listener.start();
        }
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (ended.compareAndSet(false, true)) {
                poller.close();
                unsubscribed();
            }
        };
    }

    private synchronized void unsubscribed() {
        if (--subscribers == 0 && listener != null) {
            listener.stop();
            listener = null;
        }
    }

    private boolean isNews(PGNotification notification) {
        return !NotifyConnection.isPing(notification) && (ownAreNews || notification.getPID() != sender.process());
    }
}
