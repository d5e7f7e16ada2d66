package dev.outbox.delivery;

import dev.outbox.WorkItem;

/** To a destination that takes one item at a time. */
final class SingleDelivery extends OneByOneDelivery {
    private final Destination destination;

    SingleDelivery(Destination destination, Parts parts) {
        super(parts);
        this.destination = destination;
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // whatever a destination throws is a verdict
    boolean deliver(Run run, WorkItem item, DeliveryCall call) {
        Outcome outcome;
        try {
            destination.deliver(item);
            outcome = Outcome.done();
        } catch (Throwable failure) {
            outcome = Verdicts.outcome(failure);
        }
        call.end();
        run.called(options.now());
        if (outcome instanceof Outcome.Done) {
            accepted(item, call);
        }
        return settle(judge(run, item, outcome, call, false));
    }
}
