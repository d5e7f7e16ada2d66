package dev.outbox.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for NOTIFY on a thread and a connection of its own, from start until stop.
 *
 * <p><b>Nothing is missed.</b> What was notified before LISTEN took effect, at start or after the connection was
 * lost, nobody heard; so pollers are woken once when it has.
 *
 * <p><b>Self-test.</b> LISTEN belongs to a session. Behind a pooler in transaction mode it succeeds, on a session
 * that serves somebody else a moment later, and then nothing is ever heard; a connection whose network is
 * gone looks the same. So it has a ping sent by the sender, on another connection, and waits for it: after each
 * LISTEN, and again after a silence. The wait sends no statement, or a pooler might happen to hand it the session
 * that heard. A connection on which nothing was ever heard is given up with a warning and tried again after a
 * long, growing pause; one that has fallen silent is replaced at once.
 */
final class NotifyListener {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresOutbox.class);

    /** How soon it notices that it shall stop; data that arrives ends a wait at once. */
    private static final Duration STEP = Duration.ofMillis(200);

    private final DataSource dataSource;
    private final String channel;
    private final NotifyTimes times;
    private final NotifySender sender;
    private final Predicate<PGNotification> isNews;
    private final Runnable wakePollers;
    private final CountDownLatch stopped = new CountDownLatch(1);

    private int failures;
    private int deafTests;

    /** @param isNews whether pollers have to be woken for this one */
    NotifyListener(
            DataSource dataSource,
            String channel,
            NotifyTimes times,
            NotifySender sender,
            Predicate<PGNotification> isNews,
            Runnable wakePollers) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.times = times;
        this.sender = sender;
        this.isNews = isNews;
        this.wakePollers = wakePollers;
    }

    void start() {
        Thread thread = new Thread(null, this::run, "outbox-listen-" + channel, 0, false);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns at once; thread and connection end a moment later, and those of the sender with them. */
    void stop() {
        stopped.countDown();
    }

    private void run() {
        try {
            while (!isStopping()) {
                Duration pause = listen();
                if (stopped.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("the thread that listens on channel {} was interrupted and ends; polling goes on", channel);
        } finally {
            sender.stop(); // not before: a last ping would start it again
        }
    }

    private boolean isStopping() {
        return stopped.getCount() == 0;
    }

    /** @return how long to wait before the next connection */
    private Duration listen() {
        try (NotifyConnection connection = new NotifyConnection(dataSource, channel)) {
            connection.listen();
            wakePollers.run();
            boolean heard = hear(connection);
            if (isStopping()) {
                return Duration.ZERO;
            }
            if (heard) {
                LOG.debug("no notifications arrive any more on channel {}, connecting again", channel);
                connection.abort();
                return Duration.ZERO;
            }
            return deaf();
        } catch (SQLException | RuntimeException e) {
            return failed(e);
        }
    }

    /**
     * Until it shall stop or a ping goes unheard.
     *
     * @return whether anything was heard
     */
    private boolean hear(NotifyConnection connection) throws SQLException {
        boolean everHeard = false;
        CompletableFuture<Void> ping = sender.sendPing();
        long since = System.nanoTime();
        while (!isStopping()) {
            List<PGNotification> heard = connection.await(STEP);
            long now = System.nanoTime();
            if (!heard.isEmpty()) {
                everHeard = true;
                succeeded();
                if (heard.stream().anyMatch(isNews)) {
                    wakePollers.run();
                }
                ping = null;
                since = now;
            } else if (ping == null) {
                if (now - since >= times.silence().toNanos()) {
                    ping = sender.sendPing();
                    since = now;
                }
            } else if (!ping.isDone()) {
                since = now;
            } else if (ping.isCompletedExceptionally()) {
                ping = null;
                since = now;
            } else if (now - since >= times.patience().toNanos()) {
                return everHeard;
            }
        }
        return everHeard;
    }

    private void succeeded() {
        if (failures > 0 || deafTests > 0) {
            LOG.info("NOTIFY on channel {} is received again", channel);
        }
        failures = 0;
        deafTests = 0;
    }

    private Duration deaf() {
        if (deafTests == 0) {
            LOG.warn(
                    "NOTIFY on channel {} is sent but not received: LISTEN needs a session of its own, which a pooler in"
                            + " transaction mode (PgBouncer) does not give; pollers find messages by polling. Give"
                            + " notify(...) a DataSource that connects to PostgreSQL directly",
                    channel);
        }
        return times.retest(deafTests++);
    }

    private Duration failed(Exception e) {
        Duration pause = times.retry(failures);
        if (failures++ == 0 && !isStopping()) {
            LOG.warn("cannot listen on channel {}, trying again; pollers find messages by polling", channel, e);
        } else {
            LOG.debug("cannot listen on channel {}, trying again in {}", channel, pause, e);
        }
        return pause;
    }
}
