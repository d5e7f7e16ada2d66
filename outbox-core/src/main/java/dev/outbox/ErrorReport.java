package dev.outbox;

import dev.outbox.event.OutboxEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of errors that the poller survived: in the log, to listeners and with the next heartbeat. It throws nothing
 * itself, for memory may be short. Thread-safe.
 */
final class ErrorReport {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final PollerOptions options;
    private final FailureLog log;
    private final Vitals vitals;

    ErrorReport(PollerOptions options, FailureLog log, Vitals vitals) {
        this.options = options;
        this.log = log;
        this.vitals = vitals;
    }

    /** An error that a destination threw. */
    void survived(WorkItem item, Error error) {
        quietly(() -> vitals.survived(error));
        quietly(() -> log.error(item, error));
        quietly(() -> options.emit(() -> new OutboxEvent.ErrorSurvived(options.name(), "destination", error)));
    }

    /**
     * An error in one of the poller's own threads.
     *
     * @param where the thread's part
     */
    void survived(String where, Throwable error) {
        quietly(() -> vitals.survived(error));
        quietly(() -> LOG.error(
                "poller {}: survived an error in its {} thread and goes on",
                options.name(),
                where,
                ErrorText.forLog(error)));
        quietly(() -> options.emit(() -> new OutboxEvent.ErrorSurvived(options.name(), where, error)));
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
