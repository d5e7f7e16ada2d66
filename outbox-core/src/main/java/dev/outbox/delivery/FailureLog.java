package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.internal.OneLine;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells operators which items fail: a failed attempt is a WARN, a Dead item an ERROR. It logs {@value #MOST_LINES} lines of each
 * kind per topic and minute at most; when the minute is over, another line says how many were left out. Neither payloads nor
 * headers are logged, and text from outside stays on one line. Thread-safe.
 */
final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
    private static final int MOST_LINES = 10;
    private static final int MOST_TOPICS = 1_000;
    private static final Duration WINDOW = Duration.ofMinutes(1);

    /** What is limited separately. */
    private enum Kind {
        FAILED,
        DEAD,
        LEASE,
        ERROR,
        IGNORED
    }

    private record Subject(Kind kind, String topic) {}

    private static final class Window {
        private final long since;
        private int lines;
        private int leftOut;

        Window(long since) {
            this.since = since;
        }
    }

    private final PollerOptions options;
    private final Map<Subject, Window> windows = new LinkedHashMap<>();

    FailureLog(PollerOptions options) {
        this.options = options;
    }

    /** What was settled, if it was a failure. */
    void settled(Verdict verdict) {
        Settlement settlement = verdict.settlement();
        Throwable cause = verdict.cause();
        if (settlement.kind() == Settlement.Kind.DEAD) {
            dead(verdict.item(), String.valueOf(settlement.error()), cause);
        } else if (cause != null && !(cause instanceof RetryAfterException)) {
            log(
                    Kind.FAILED,
                    verdict.item(),
                    item -> LOG.warn(
                            "poller {}: attempt {} failed{}, next in {}: {}",
                            options.name(),
                            verdict.item().attempt(),
                            givenBack(settlement.attemptsGivenBack()),
                            settlement.delay(),
                            item,
                            ErrorText.forLog(cause)));
        }
    }

    private static String givenBack(int attempts) {
        return switch (attempts) {
            case 0 -> "";
            case 1 -> " and is not counted";
            default -> " and " + attempts + " attempts are given back";
        };
    }

    void dead(WorkItem dead, String error, @Nullable Throwable cause) {
        log(Kind.DEAD, dead, item -> {
            if (cause == null) {
                LOG.error("poller {}: Dead after attempt {}: {}: {}", options.name(), dead.attempt(), item, error);
            } else {
                LOG.error(
                        "poller {}: Dead after attempt {}: {}: {}",
                        options.name(),
                        dead.attempt(),
                        item,
                        error,
                        ErrorText.forLog(cause));
            }
        });
    }

    /** Another poller crashed or stalled. */
    void reclaimed(WorkItem reclaimed) {
        log(
                Kind.LEASE,
                reclaimed,
                item -> LOG.warn(
                        "poller {}: the lease expired on attempt {}, so it is Ready again: {}",
                        options.name(),
                        reclaimed.attempt(),
                        item));
    }

    /**
     * The leases of these items have ended before a settle. One line for all of them.
     *
     * @param what what happened to them
     */
    void leaseLost(String what, List<WorkItem> items) {
        log(
                Kind.LEASE,
                items.get(0),
                item -> LOG.warn(
                        "poller {}: {}, {} items, the first is: {}", options.name(), what, items.size(), item));
    }

    /** Its lease was lost, and it was settled too late. */
    void fenced(WorkItem fenced) {
        log(
                Kind.LEASE,
                fenced,
                item -> LOG.warn("poller {}: the settle was fenced, the lease was lost: {}", options.name(), item));
    }

    /** Its delivery took too long. */
    void interrupted(WorkItem delivered) {
        log(
                Kind.LEASE,
                delivered,
                item -> LOG.warn(
                        "poller {}: interrupted a delivery after {}: {}",
                        options.name(),
                        options.maxDeliveryTime(),
                        item));
    }

    /** Its topic has no route, so it counts as delivered. */
    void ignored(WorkItem ignored) {
        log(
                Kind.IGNORED,
                ignored,
                item -> LOG.warn("poller {}: ignored, because its topic has no route: {}", options.name(), item));
    }

    /** A destination threw an {@link Error}. */
    void error(WorkItem delivered, Throwable error) {
        log(
                Kind.ERROR,
                delivered,
                item -> LOG.error(
                        "poller {}: survived an error in the destination: {}",
                        options.name(),
                        item,
                        ErrorText.forLog(error)));
    }

    /** Says what was left out in minutes that are over; call it now and then. */
    void tick() {
        sayLeftOut(false);
    }

    /** Says what was left out so far. */
    void close() {
        sayLeftOut(true);
    }

    private void sayLeftOut(boolean soFar) {
        long now = options.now();
        synchronized (windows) {
            windows.entrySet().removeIf(one -> {
                boolean over = soFar || isOver(one.getValue(), now);
                if (over) {
                    sayLeftOut(one.getKey(), one.getValue());
                }
                return over;
            });
        }
    }

    private void log(Kind kind, WorkItem item, Consumer<String> line) {
        if (isWithinLimit(new Subject(kind, item.topic()))) {
            line.accept(described(item));
        }
    }

    private boolean isWithinLimit(Subject subject) {
        long now = options.now();
        synchronized (windows) {
            Window window = windows.get(subject);
            if (window == null || isOver(window, now)) {
                if (window != null) {
                    windows.remove(subject);
                    sayLeftOut(subject, window);
                } else if (windows.size() >= MOST_TOPICS) {
                    Map.Entry<Subject, Window> eldest =
                            windows.entrySet().iterator().next();
                    windows.remove(eldest.getKey());
                    sayLeftOut(eldest.getKey(), eldest.getValue());
                }
                window = new Window(now);
                windows.put(subject, window);
            }
            if (window.lines < MOST_LINES) {
                window.lines++;
                return true;
            }
            window.leftOut++;
            return false;
        }
    }

    private static boolean isOver(Window window, long now) {
        return now - window.since >= WINDOW.toNanos();
    }

    private void sayLeftOut(Subject subject, Window window) {
        if (window.leftOut > 0) {
            LOG.warn(
                    "poller {}: {} more lines of this kind ({}) were left out, topic {}, table {}",
                    options.name(),
                    window.leftOut,
                    subject.kind,
                    OneLine.of(subject.topic),
                    options.source().name());
        }
    }

    private String described(WorkItem item) {
        return "table " + options.source().name() + ", topic " + OneLine.of(item.topic()) + ", key "
                + OneLine.of(item.key()) + ", item " + OneLine.of(item.id()) + ", message "
                + OneLine.of(item.messageId());
    }
}
