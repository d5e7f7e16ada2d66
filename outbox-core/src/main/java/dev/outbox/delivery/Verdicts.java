package dev.outbox.delivery;

import dev.outbox.OnDead;
import dev.outbox.PermanentFailureException;
import dev.outbox.UnknownTypeException;
import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns what a destination did into settlements. Every verdict is final as soon as it is made; none waits for what
 * becomes of other items.
 */
final class Verdicts {
    /** Before an item whose type is unknown here is looked at again. */
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    private final PollerOptions options;

    Verdicts(PollerOptions options) {
        this.options = options;
    }

    /** What an exception means. */
    static Outcome outcome(Throwable failure) {
        if (failure instanceof PermanentFailureException) {
            return Outcome.dead(failure);
        }
        return failure instanceof DestinationUnavailableException
                ? Outcome.unavailable(failure)
                : Outcome.retry(failure);
    }

    Verdict done(Run run, WorkItem item, long started) {
        return verdict(run, item, Settlement.done(run.lease(item)), started, null);
    }

    Verdict dead(Run run, WorkItem item, Throwable cause, long started) {
        return verdict(run, item, dead(run.lease(item), ErrorText.of(cause)), started, cause);
    }

    /** The destination asked for a later delivery; no attempt is counted. */
    Verdict retryAfter(Run run, WorkItem item, RetryAfterException asked, long started) {
        return verdict(run, item, later(run, item, asked.delay(), ErrorText.of(asked), 1), started, asked);
    }

    /** A newer version may know it. It counts as no attempt, and waits as long again as it has waited so far. */
    Verdict unknownType(Run run, WorkItem item, UnknownTypeException unknown, long started) {
        Duration waited = Duration.between(item.firstDueOn(), run.claimedAt());
        Duration delay = waited.compareTo(SHORTEST_WAIT) < 0
                ? SHORTEST_WAIT
                : waited.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : waited;
        return verdict(run, item, later(run, item, delay, ErrorText.of(unknown), 1), started, unknown);
    }

    /** A failure that the item did not cause: no attempt is counted. */
    Verdict excused(Run run, WorkItem item, Throwable cause, Duration pause, long started) {
        Duration delay = delay(item, pause);
        return verdict(run, item, later(run, item, delay, ErrorText.of(cause), 1), started, cause);
    }

    /**
     * A failure that counts. The last attempt makes the item Dead; but if the route accepts nothing, half of the
     * attempts are given back instead.
     */
    Verdict failed(Run run, WorkItem item, Throwable cause, Route.Standing route, long started) {
        String error = ErrorText.of(cause);
        Duration delay = delay(item, route.pause());
        Settlement settlement;
        if (!options.retry().isExhausted(item.attempt())) {
            settlement = Settlement.retry(run.lease(item), delay, error);
        } else if (route.kills()) {
            settlement = dead(run.lease(item), error);
        } else {
            int half = (item.attempt() + 1) / 2;
            settlement = later(run, item, delay, "the destination accepts nothing: " + error, half);
        }
        return verdict(run, item, settlement, started, cause);
    }

    /** The retry policy's delay; while the route accepts nothing, at most the pause between its calls. */
    private Duration delay(WorkItem item, Duration pause) {
        Duration delay = options.retry().delayAfter(item.attempt());
        return pause.isZero() || delay.compareTo(pause) < 0 ? delay : pause;
    }

    /** @param delivered whether delivery had begun: then the attempt stays counted */
    Verdict release(Run run, WorkItem item, boolean delivered) {
        return new Verdict(run, item, Settlement.release(run.lease(item), delivered), Duration.ZERO, null);
    }

    List<Verdict> releaseRest(Run run) {
        List<WorkItem> rest = run.takeRest();
        return rest.isEmpty()
                ? List.of() // mostly
                : rest.stream().map(item -> release(run, item, false)).toList();
    }

    /** Puts off an item of a route that is called less often, and the rest of its run; no attempt is counted. */
    List<Verdict> putOff(Run run, WorkItem item, Duration delay) {
        Settlement later = new Settlement(
                run.lease(item), Settlement.Kind.RETRY, delay, null, 1, OnDead.SKIP); // keeps its last error
        return withRest(new Verdict(run, item, later, Duration.ZERO, null));
    }

    /**
     * The verdict and what follows from it for the rest of its run. If it holds back its key, nothing more of the key may
     * be delivered, so the rest goes back in the same settle.
     */
    List<Verdict> withRest(Verdict verdict) {
        if (verdict.letsItsRunGoOn()) {
            return List.of(verdict);
        }
        List<Verdict> verdicts = new ArrayList<>();
        verdicts.add(verdict);
        verdicts.addAll(releaseRest(verdict.run()));
        return verdicts;
    }

    private Verdict verdict(Run run, WorkItem item, Settlement settlement, long started, @Nullable Throwable cause) {
        return new Verdict(run, item, settlement, Duration.ofNanos(options.now() - started), cause);
    }

    private Settlement dead(Lease lease, String error) {
        return Settlement.dead(lease, error, options.onDead());
    }

    /** Gives attempts back; but an item that has reached the maximum age becomes Dead. */
    private Settlement later(Run run, WorkItem item, Duration delay, String error, int attemptsGivenBack) {
        Lease lease = run.lease(item);
        Duration left = options.maxAge().minus(Duration.between(item.firstDueOn(), run.claimedAt()));
        if (left.isNegative()) {
            return dead(lease, "older than the maximum age of " + options.maxAge() + ": " + error);
        }
        return Settlement.retry(lease, delay.compareTo(left) > 0 ? left : delay, error, attemptsGivenBack);
    }
}
