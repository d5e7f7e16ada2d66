package dev.outbox;

import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers runs on a worker's thread and hands the verdicts to the settler. The three forms differ in how
 * a destination is called; what becomes of a run is the same for all.
 */
abstract class Delivery {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    final PollerOptions options;
    final Judge judge;
    final InFlight inFlight;
    final Settler settler;
    final Breakers breakers;
    private final BooleanSupplier stopping;

    Delivery(PollerOptions options, InFlight inFlight, Settler settler, Breakers breakers, BooleanSupplier stopping) {
        this.options = options;
        this.judge = new Judge(options);
        this.inFlight = inFlight;
        this.settler = settler;
        this.breakers = breakers;
        this.stopping = stopping;
    }

    /** How many runs a worker takes at a time. */
    int runsPerCall() {
        return 1;
    }

    /** Delivers these runs, or gives back what could not be. Throws only fatal errors. */
    void deliver(List<Run> runs) {
        try {
            for (Run run : runs) {
                while (deliverNext(run)) {}
            }
        } finally {
            runs.forEach(this::finish);
        }
    }

    /** Delivers the next item of a run; false if nothing more of it is to be delivered. */
    abstract boolean deliverNext(Run run);

    @Nullable
    WorkItem begin(Run run) {
        WorkItem next = run.peek();
        if (next == null || stopping.getAsBoolean() || run.isLost(options.now())) {
            return null;
        }
        Breaker breaker = breakers.of(next);
        if (!breaker.permits(next, options.now())) {
            breakers.putOff(run, next);
            return null;
        }
        WorkItem item = run.begin(options.now());
        if (item == null) {
            breaker.abandoned(next, options.now());
        }
        return item;
    }

    /** Ends a delivery and settles it; false if the run must not go on. */
    boolean end(Run run, WorkItem item, Outcome outcome, long started) {
        return end(run, item, outcome, started, settler::add);
    }

    boolean end(Run run, WorkItem item, Outcome outcome, long started, Consumer<List<Verdict>> settle) {
        Run.Interruption interruption = run.end();
        Verdict verdict = verdict(run, item, outcome, started, interruption);
        if (verdict == null) {
            breakers.of(item).abandoned(item, options.now());
            return false;
        }
        boolean answered = interruption == null || outcome instanceof Outcome.Done;
        boolean tooLong = !answered && interruption == Run.Interruption.TOO_LONG;
        if (tooLong || (answered && outcome instanceof Outcome.Retry retry && !(retry.cause() instanceof RetryAfter))) {
            breakers.failed(verdict, tooLong ? new TimeoutException("delivery took too long") : cause(outcome));
            return false;
        }
        if (outcome instanceof Outcome.Done) {
            breakers.succeeded(item, started);
        } else {
            breakers.of(item).abandoned(item, options.now());
        }
        settle.accept(judge.withRest(verdict));
        return Judge.continues(verdict);
    }

    private static Throwable cause(Outcome outcome) {
        return ((Outcome.Retry) outcome).cause();
    }

    /** A delivery that we interrupted has no verdict of its own, unless it succeeded all the same. */
    private @Nullable Verdict verdict(
            Run run, WorkItem item, Outcome outcome, long started, Run.@Nullable Interruption interruption) {
        if (interruption == null || outcome instanceof Outcome.Done) {
            return judge.judge(run, item, outcome, started);
        }
        return switch (interruption) {
            case CLOSING -> judge.release(run, item, true);
            case TOO_LONG ->
                judge.judge(
                        run,
                        item,
                        Outcome.retry(new TimeoutException(
                                "delivery took longer than maxDeliveryTime " + options.maxDeliveryTime())),
                        started);
            case LEASE_LOST -> {
                inFlight.settled(run, item);
                yield null;
            }
        };
    }

    /** What is left of a run goes back, or is dropped if it is not ours any more. */
    final void finish(Run run) {
        if (run.isLost(options.now())) {
            List<WorkItem> rest = run.takeRest();
            rest.forEach(item -> inFlight.settled(run, item));
            List<WorkItem> dropped = run.newlyLost(rest);
            if (!dropped.isEmpty()) {
                LOG.warn("poller {}: lease lost, {} items dropped undelivered", options.name(), dropped.size());
                options.emit(() -> new OutboxEvent.LeaseLost(options.name(), dropped));
            }
        } else {
            settler.add(judge.releaseRest(run));
        }
    }

    /** Out of memory and kin are no property of the message: they end the poller, and are not swallowed. */
    static void throwIfFatal(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry
                && retry.cause() instanceof VirtualMachineError error
                && !(error instanceof StackOverflowError)) {
            throw error;
        }
    }

    /** One call per item. */
    static final class Single extends Delivery {
        private final Destination destination;

        Single(
                Destination destination,
                PollerOptions options,
                InFlight inFlight,
                Settler settler,
                Breakers breakers,
                BooleanSupplier stopping) {
            super(options, inFlight, settler, breakers, stopping);
            this.destination = destination;
        }

        @Override
        @SuppressWarnings("CatchingUnchecked") // whatever a destination throws is a verdict
        boolean deliverNext(Run run) {
            WorkItem item = begin(run);
            if (item == null) {
                return false;
            }
            long started = options.now();
            Outcome outcome;
            try {
                destination.deliver(item);
                outcome = Outcome.done();
            } catch (Throwable failure) {
                outcome = Judge.outcome(failure);
            }
            boolean more = end(run, item, outcome, started);
            throwIfFatal(outcome);
            return more;
        }
    }

    /** One call for many runs: the next item of each, round by round. */
    static final class Batch extends Delivery {
        private final BatchDestination destination;

        Batch(
                BatchDestination destination,
                PollerOptions options,
                InFlight inFlight,
                Settler settler,
                Breakers breakers,
                BooleanSupplier stopping) {
            super(options, inFlight, settler, breakers, stopping);
            this.destination = destination;
        }

        @Override
        int runsPerCall() {
            return options.maxBatch();
        }

        @Override
        void deliver(List<Run> runs) {
            List<Run> active = runs;
            try {
                while (!active.isEmpty()) {
                    active = deliverRound(active);
                }
            } finally {
                runs.forEach(super::finish);
            }
        }

        @Override
        boolean deliverNext(Run run) {
            return !deliverRound(List.of(run)).isEmpty();
        }

        private List<Run> deliverRound(List<Run> runs) {
            List<Run> begun = new ArrayList<>();
            List<WorkItem> items = new ArrayList<>();
            for (Run run : runs) {
                WorkItem item = begin(run);
                if (item != null) {
                    begun.add(run);
                    items.add(item);
                }
            }
            if (items.isEmpty()) {
                return List.of();
            }
            long started = options.now();
            List<Outcome> outcomes = call(items);
            List<Run> active = new ArrayList<>();
            List<List<Verdict>> verdicts = new ArrayList<>();
            try {
                // successes first: they show that the destination is up before the failures are judged
                for (boolean done : new boolean[] {true, false}) {
                    for (int i = 0; i < items.size(); i++) {
                        Outcome outcome = outcomes.get(i);
                        if (outcome instanceof Outcome.Done == done
                                && end(begun.get(i), items.get(i), outcome, started, verdicts::add)) {
                            active.add(begun.get(i));
                        }
                    }
                }
            } finally {
                settler.addAll(verdicts); // at once, so that they go in one statement
            }
            outcomes.forEach(Delivery::throwIfFatal);
            return active;
        }

        /** One outcome per item, whatever the destination answers: no verdict is a retry. */
        private List<Outcome> call(List<WorkItem> items) {
            List<@Nullable Outcome> answers = List.of();
            Throwable missing;
            try {
                List<Outcome> given = destination.deliver(List.copyOf(items));
                if (given != null) {
                    answers = new ArrayList<>(given); // here, because looking at a lazy list may fail too
                }
                missing = new IllegalStateException("the batch destination gave "
                        + (given == null ? "no outcomes" : answers.size() + " outcomes for " + items.size() + " items")
                        + "; this item has none");
            } catch (Throwable failure) {
                missing = failure;
            }
            boolean usable = answers.size() == items.size(); // else nobody knows whose is missing
            List<Outcome> outcomes = new ArrayList<>();
            for (int i = 0; i < items.size(); i++) {
                Outcome answer = usable && i < answers.size() ? answers.get(i) : null;
                outcomes.add(answer == null ? Outcome.retry(missing) : answer);
            }
            return outcomes;
        }
    }

    /** Effects and settle in one transaction, per item. */
    static final class Transactional extends Delivery {
        private final TransactionalDestination destination;
        private final TransactionalSource source;

        Transactional(
                TransactionalDestination destination,
                TransactionalSource source,
                PollerOptions options,
                InFlight inFlight,
                Settler settler,
                Breakers breakers,
                BooleanSupplier stopping) {
            super(options, inFlight, settler, breakers, stopping);
            this.destination = destination;
            this.source = source;
        }

        @Override
        boolean deliverNext(Run run) {
            WorkItem item = begin(run);
            if (item == null) {
                return false;
            }
            long started = options.now();
            Verdict done = judge.judge(run, item, Outcome.done(), started);
            boolean fenced;
            try (TransactionalSource.Transaction tx = source.begin()) {
                destination.deliver(tx.connection(), item);
                done = judge.judge(run, item, Outcome.done(), started);
                run.settling(item);
                List<Settlement> settlements = List.of(done.settlement());
                Set<Lease> refused = source.settle(tx.connection(), settlements);
                fenced = !refused.isEmpty();
                if (!fenced) {
                    tx.commit();
                }
            } catch (Throwable failure) {
                run.settling(null);
                Outcome outcome = Judge.outcome(failure);
                boolean more = end(run, item, outcome, started);
                throwIfFatal(outcome);
                return more;
            }
            run.end();
            breakers.succeeded(item, started);
            settler.settled(done, fenced);
            settler.wake(); // whoever waits for room is told by the settling thread
            return !fenced;
        }
    }
}
