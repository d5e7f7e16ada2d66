package dev.outbox;

import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Turns what a destination did into settlements. */
final class Judge {
    private final PollerOptions options;

    Judge(PollerOptions options) {
        this.options = options;
    }

    /** What an exception means. */
    static Outcome outcome(Throwable failure) {
        return failure instanceof PermanentFailureException ? Outcome.dead(failure) : Outcome.retry(failure);
    }

    Verdict judge(Run run, WorkItem item, Outcome outcome, long started) {
        return new Verdict(run, item, settlement(run, item, outcome), Duration.ofNanos(options.now() - started));
    }

    /** The same failure and the rest of its run, put off because the destination is down: no attempt is counted. */
    List<Verdict> putOff(List<Verdict> group, Duration delay) {
        Verdict failed = group.get(0);
        String error = "the destination is down: " + failed.settlement().error();
        Settlement later = later(failed.run(), failed.item(), delay, error);
        List<Verdict> verdicts = new ArrayList<>();
        verdicts.add(new Verdict(failed.run(), failed.item(), later, failed.delivery()));
        verdicts.addAll(group.subList(1, group.size()));
        if (!continues(failed)) {
            return verdicts;
        }
        verdicts.addAll(releaseRest(failed.run())); // it would have been Dead, and the run gone on
        return verdicts;
    }

    /** What has not been begun of a run is put off because the destination is down. */
    List<Verdict> putOff(Run run, Duration delay) {
        List<Verdict> verdicts = new ArrayList<>();
        for (WorkItem item : run.takeRest()) {
            verdicts.add(
                    verdicts.isEmpty()
                            ? new Verdict(
                                    run,
                                    item,
                                    Settlement.retryAfter(run.lease(item), delay, "the destination is down"),
                                    Duration.ZERO)
                            : release(run, item, false));
        }
        return verdicts;
    }

    /** @param delivered whether delivery had begun: then the attempt stays counted */
    Verdict release(Run run, WorkItem item, boolean delivered) {
        return new Verdict(run, item, Settlement.release(run.lease(item), delivered), Duration.ZERO);
    }

    List<Verdict> releaseRest(Run run) {
        return run.takeRest().stream().map(item -> release(run, item, false)).toList();
    }

    /**
     * The verdict and what follows from it for the rest of its run: where it holds back its key nothing more
     * of it may be delivered, so the rest goes back, in the same settle.
     */
    List<Verdict> withRest(Verdict verdict) {
        if (continues(verdict)) {
            return List.of(verdict);
        }
        List<Verdict> verdicts = new ArrayList<>();
        verdicts.add(verdict);
        verdicts.addAll(releaseRest(verdict.run()));
        return verdicts;
    }

    /** Whether the next item of the run may be delivered: this one is Done, or Dead and skipped. */
    static boolean continues(Verdict verdict) {
        return !verdict.settlement().holdsBackItsKey();
    }

    private Settlement settlement(Run run, WorkItem item, Outcome outcome) {
        Lease lease = run.lease(item);
        if (outcome instanceof Outcome.Retry retry) {
            return retry(run, item, retry.cause());
        }
        if (outcome instanceof Outcome.Dead dead) {
            return dead(lease, ErrorText.of(dead.cause()));
        }
        return Settlement.done(lease);
    }

    private Settlement retry(Run run, WorkItem item, Throwable cause) {
        Lease lease = run.lease(item);
        String error = ErrorText.of(cause);
        if (cause instanceof RetryAfter asked) {
            return later(run, item, asked.delay(), error);
        }
        return options.retry().isExhausted(item.attempt())
                ? dead(lease, error)
                : Settlement.retry(lease, options.retry().delayAfter(item.attempt()), error);
    }

    private Settlement dead(Lease lease, String error) {
        return Settlement.dead(lease, error, options.onDead());
    }

    /** Later without counting an attempt, unless the item is too old to be put off once more. */
    private Settlement later(Run run, WorkItem item, Duration delay, String error) {
        Lease lease = run.lease(item);
        Duration left = options.maxAge().minus(Duration.between(item.createdOn(), run.claimedAt()));
        if (left.isNegative()) {
            return dead(lease, "older than the maximum age of " + options.maxAge() + ": " + error);
        }
        return Settlement.retryAfter(lease, delay.compareTo(left) > 0 ? left : delay, error);
    }
}
