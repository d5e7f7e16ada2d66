package dev.outbox.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends NOTIFY on a thread and a connection of its own.
 *
 * <p>The first wake-up goes out at once; those that come while it is under way, or too soon after it, go
 * together as the next. One that could not be sent is kept and tried again after a growing pause: it stands
 * for everything enqueued since. Thread and connection come with the first wake-up and go when there was
 * nothing to send for a while, so there is nothing to close. A caller only sets a flag: it never waits for the
 * database and never sees its errors. Thread-safe.
 */
final class NotifySender {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresOutbox.class);

    private final DataSource dataSource;
    private final String channel;
    private final NotifyTimes times;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean wakeUpDue;
    private @Nullable CompletableFuture<Void> pingDue;
    private boolean stopping;
    private @Nullable Thread thread;

    private volatile int process;

    NotifySender(DataSource dataSource, String channel, NotifyTimes times) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.times = times;
    }

    /** Has a NOTIFY sent soon. */
    void sendWakeUp() {
        lock.lock();
        try {
            if (!wakeUpDue) {
                wakeUpDue = true;
                work();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Has a ping sent, which wakes nobody; the answer comes when it is out or could not be sent. */
    CompletableFuture<Void> sendPing() {
        lock.lock();
        try {
            CompletableFuture<Void> ping = pingDue;
            if (ping == null) {
                ping = new CompletableFuture<>();
                pingDue = ping;
                work();
            }
            return ping;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread once it has tried to send what is due. A later wake-up starts another. */
    void stop() {
        lock.lock();
        try {
            stopping = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The server process that notifications of this sender come from, or 0. */
    int process() {
        return process;
    }

    private void work() {
        stopping = false;
        changed.signalAll();
        if (thread == null) {
            // by no means a child of the caller's thread: that may be any thread of the application
            Thread starting = new Thread(null, new Line(), "outbox-notify-" + channel, 0, false);
            starting.setDaemon(true);
            try {
                starting.start();
                thread = starting;
            } catch (OutOfMemoryError e) {
                LOG.warn("no thread to send NOTIFY: {}; the next wake-up tries again", e.getMessage());
                drop();
            }
        }
    }

    private boolean isDue() {
        return wakeUpDue || pingDue != null;
    }

    private void drop() {
        wakeUpDue = false;
        if (pingDue != null) {
            pingDue.cancel(false);
            pingDue = null;
        }
    }

    /** One life of the thread, with its connection. */
    private final class Line implements Runnable {
        private @Nullable NotifyConnection connection;
        private int failures;

        @Override
        public void run() {
            try {
                while (awaitWork()) {
                    send();
                    pause(failures == 0 ? times.apart() : times.retry(failures - 1));
                }
            } catch (InterruptedException e) {
                LOG.debug("the thread that sends NOTIFY was interrupted and ends");
            } finally {
                leave();
                hangUp();
            }
        }

        /** False ends this thread: from this moment on a wake-up starts another. */
        private boolean awaitWork() throws InterruptedException {
            lock.lock();
            try {
                long left = times.linger().toNanos();
                while (!isDue() && !stopping && left > 0) {
                    left = changed.awaitNanos(left);
                }
                if (isDue() && !(stopping && failures > 0)) {
                    return true;
                }
                leave();
                return false;
            } finally {
                lock.unlock();
            }
        }

        private void leave() {
            lock.lock();
            try {
                if (thread == Thread.currentThread()) {
                    thread = null;
                    drop();
                }
            } finally {
                lock.unlock();
            }
        }

        private void send() {
            boolean wakeUp;
            CompletableFuture<Void> ping;
            lock.lock();
            try {
                wakeUp = wakeUpDue;
                ping = pingDue;
                wakeUpDue = false;
                pingDue = null;
            } finally {
                lock.unlock();
            }
            try {
                send(wakeUp, ping != null);
                succeeded();
                if (ping != null) {
                    ping.complete(null);
                }
            } catch (SQLException | RuntimeException e) {
                keep(wakeUp);
                failed(e);
                if (ping != null) {
                    ping.completeExceptionally(e);
                }
            }
        }

        /** A connection that was kept may have died meanwhile; only a fresh one tells whether the database has. */
        private void send(boolean wakeUp, boolean ping) throws SQLException {
            if (connection != null) {
                try {
                    sendOn(connection, wakeUp, ping);
                    return;
                } catch (SQLException | RuntimeException e) {
                    LOG.debug("the connection that sends NOTIFY was lost", e);
                    hangUp();
                }
            }
            NotifyConnection fresh = new NotifyConnection(dataSource, channel);
            connection = fresh;
            process = fresh.process();
            sendOn(fresh, wakeUp, ping);
        }

        private void sendOn(NotifyConnection connection, boolean wakeUp, boolean ping) throws SQLException {
            if (wakeUp) {
                connection.sendWakeUp();
            }
            if (ping) {
                connection.sendPing();
            }
        }

        private void keep(boolean wakeUp) {
            lock.lock();
            try {
                wakeUpDue |= wakeUp;
            } finally {
                lock.unlock();
            }
        }

        private void succeeded() {
            if (failures > 0) {
                LOG.info("NOTIFY on channel {} can be sent again", channel);
            }
            failures = 0;
        }

        private void failed(Exception e) {
            hangUp();
            if (failures++ == 0) {
                LOG.warn(
                        "cannot send NOTIFY on channel {}, trying again; pollers find messages by polling", channel, e);
            } else {
                LOG.debug("cannot send NOTIFY on channel {}", channel, e);
            }
        }

        private void hangUp() {
            process = 0;
            NotifyConnection ending = connection;
            connection = null;
            if (ending != null) {
                try {
                    ending.close();
                } catch (SQLException | RuntimeException e) {
                    LOG.debug("could not close the connection that sends NOTIFY", e);
                }
            }
        }

        private void pause(Duration time) throws InterruptedException {
            lock.lock();
            try {
                long left = time.toNanos();
                while (!stopping && left > 0) {
                    left = changed.awaitNanos(left);
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
