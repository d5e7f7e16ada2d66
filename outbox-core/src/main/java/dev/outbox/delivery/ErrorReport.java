package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports errors that the poller survived: in the log, to listeners and with the next heartbeat. It also reports what happens
 * to items apart from their verdicts, such as a lost lease. It throws nothing itself, because memory may be short. Thread-safe.
 */
final class ErrorReport {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final PollerOptions options;
    private final FailureLog log;
    private final HeartbeatSender heartbeat;

    ErrorReport(PollerOptions options, FailureLog log, HeartbeatSender heartbeat) {
        this.options = options;
        this.log = log;
        this.heartbeat = heartbeat;
    }

    /** An error that a destination threw. */
    void survived(WorkItem item, Error error) {
        quietly(() -> heartbeat.survived(error));
        quietly(() -> log.error(item, error));
        quietly(() -> options.emit(() -> new OutboxEvent.ErrorSurvived(options.name(), "destination", error)));
    }

    /**
     * An error in one of the poller's own threads.
     *
     * @param where the thread's part
     */
    void survived(String where, Throwable error) {
        quietly(() -> heartbeat.survived(error));
        quietly(() -> LOG.error(
                "poller {}: survived an error in its {} thread and goes on",
                options.name(),
                where,
                ErrorText.forLog(error)));
        quietly(() -> options.emit(() -> new OutboxEvent.ErrorSurvived(options.name(), where, error)));
    }

    /**
     * Tells the log or listeners of something that has happened. What they throw is an error that the poller survives: the poller
     * must still take note of what has happened.
     *
     * @param where the thread's part
     */
    void guarded(String where, Runnable telling) {
        try {
            telling.run();
        } catch (Throwable error) {
            survived(where, error);
        }
    }

    /**
     * The leases of these items have ended before a settle.
     *
     * @param where the thread's part
     * @param what what happened to them, for the log
     */
    void leaseLost(String where, String what, List<WorkItem> items) {
        if (!items.isEmpty()) {
            guarded(where, () -> log.leaseLost(what, items));
            guarded(where, () -> options.emit(() -> new OutboxEvent.LeaseLost(options.name(), items)));
        }
    }

    /** The topic of this item has no route, so it counts as delivered. */
    void ignored(WorkItem item) {
        guarded("deliver", () -> log.ignored(item));
        guarded("deliver", () -> options.emit(() -> new OutboxEvent.Ignored(options.name(), item)));
    }

    /** The delivery of this item took too long. */
    void interrupted(WorkItem item) {
        guarded("renew", () -> log.interrupted(item));
    }

    @SuppressWarnings("EmptyCatch") // there is nothing left to tell it to
    private static void quietly(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            // the error that is reported matters more
        }
    }
}
