package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call for many runs: the next item of each, round by round.
 *
 * <p>A call that throws, or answers the wrong number of outcomes, gives no verdict: a single bad item may have caused it.
 * Its items are called again in halves, and only a call with one item tells that this item failed. The route
 * remembers how many items a call can have, so that bad items are found once and not at every call.
 */
final class BatchDelivery extends Delivery {
    private final BatchDestination destination;

    BatchDelivery(BatchDestination destination, Parts parts) {
        super(parts);
        this.destination = destination;
    }

    /** The item of a run whose delivery has begun. */
    private record Begun(Run run, WorkItem item) {}

    @Override
    int runsPerCall() {
        return options.maxBatch();
    }

    @Override
    List<Run> deliver(List<Run> runs) {
        List<Run> active = runs;
        try {
            while (!active.isEmpty()) {
                active = deliverRound(active);
            }
            return behind(runs);
        } finally {
            runs.forEach(super::finish);
        }
    }

    /** @return the runs that may go on */
    private List<Run> deliverRound(List<Run> runs) {
        List<Begun> begun = new ArrayList<>();
        for (Run run : runs) {
            WorkItem item = begin(run);
            if (item != null) {
                begun.add(new Begun(run, item));
            }
        }
        List<Run> goOn = new ArrayList<>();
        deliver(begun, goOn);
        return goOn;
    }

    private void deliver(List<Begun> items, List<Run> goOn) {
        Deque<List<Begun>> left = new ArrayDeque<>();
        pushUnlessEmpty(left, items);
        while (!left.isEmpty()) {
            List<Begun> next = left.pop();
            int size = Math.min(next.size(), routes.of(next.get(0).item()).batchLimit());
            pushUnlessEmpty(left, next.subList(size, next.size()));
            waits(left, goOn);
            pushUnlessEmpty(left, call(next.subList(0, size), goOn));
        }
    }

    private static void pushUnlessEmpty(Deque<List<Begun>> left, List<Begun> items) {
        if (!items.isEmpty()) {
            left.push(items);
        }
    }

    /** A call may take long, and all of these wait for it: they must not look stuck. */
    private void waits(Deque<List<Begun>> left, List<Run> goOn) {
        long now = options.now();
        left.forEach(items -> items.forEach(one -> one.run().waits(now)));
        goOn.forEach(run -> run.waits(now));
    }

    /** @return those of the items that are to be called again in halves, because the call gave no verdict */
    private List<Begun> call(List<Begun> wanted, List<Run> goOn) {
        Route route = routes.of(wanted.get(0).item());
        boolean permitted = mayCall(route, wanted.get(0).run());
        DeliveryCall call = new DeliveryCall(options.now());
        List<Begun> items = new ArrayList<>();
        for (Begun one : wanted) {
            if (isCalled(one, permitted, call)) {
                items.add(one);
            }
        }
        if (items.isEmpty()) {
            return List.of();
        }
        List<Outcome> outcomes = List.of();
        Throwable failure = null;
        try {
            outcomes = answers(items);
        } catch (Throwable e) {
            failure = e;
        }
        call.end();
        DeliveryCall.Interruption interruption = call.endedBy();
        items.forEach(one -> one.run().called(options.now()));
        if (failure == null) {
            route.batchAnswered(items.size());
            settle(items, outcomes, call, goOn);
        } else if (items.size() == 1
                || interruption == DeliveryCall.Interruption.CLOSING
                || interruption == DeliveryCall.Interruption.LEASE_LOST
                || failure instanceof RetryAfterException
                || isOutage(items.get(0).item(), failure)) {
            Outcome outcome = Verdicts.outcome(failure);
            settle(items, items.stream().map(item -> outcome).toList(), call, goOn);
        } else {
            if (failure instanceof Error error) {
                errors.survived(items.get(0).item(), error);
            }
            route.batchFailed(items.size());
            return items;
        }
        return List.of();
    }

    /** Gives back what may not be called any more. No attempt is counted, because an earlier call gave no verdict. */
    private boolean isCalled(Begun one, boolean permitted, DeliveryCall call) {
        if (isStopping()) {
            settler.add(verdicts.withRest(verdicts.release(one.run(), one.item(), false)));
            return false;
        }
        if (!permitted) {
            settler.add(
                    verdicts.putOff(one.run(), one.item(), routes.of(one.item()).pause()));
            return false;
        }
        return one.run().calling(call);
    }

    /** One outcome per item. */
    private List<Outcome> answers(List<Begun> items) throws Exception {
        List<Outcome> given =
                destination.deliver(items.stream().map(Begun::item).toList());
        List<@Nullable Outcome> answers = given == null ? List.of() : new ArrayList<>(given); // a lazy list may throw
        if (answers.size() != items.size()) {
            throw new IllegalStateException("the batch destination gave "
                    + (given == null ? "no outcomes" : answers.size() + " outcomes") + " for " + items.size()
                    + " items; it must give one per item");
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (@Nullable Outcome answer : answers) {
            outcomes.add(
                    answer == null
                            ? Outcome.retry(new IllegalStateException(
                                    "the batch destination gave null for this item; it must give an outcome"))
                            : answer);
        }
        return outcomes;
    }

    private void settle(List<Begun> items, List<Outcome> outcomes, DeliveryCall call, List<Run> goOn) {
        boolean anyDone = false;
        for (int i = 0; i < items.size() && !anyDone; i++) {
            if (outcomes.get(i) instanceof Outcome.Done) {
                accepted(items.get(i).item(), call);
                anyDone = true;
            }
        }
        List<List<Verdict>> groups = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Begun one = items.get(i);
            Verdict verdict = judge(one.run(), one.item(), outcomes.get(i), call, anyDone);
            if (verdict != null) {
                groups.add(verdicts.withRest(verdict));
                if (verdict.letsItsRunGoOn()) {
                    goOn.add(one.run());
                }
            }
        }
        settler.addAll(groups); // at once, so that they go in one statement
    }
}
