package dev.outbox;

/** One call per item. */
final class SingleDelivery extends Delivery {
    private final Destination destination;

    SingleDelivery(Destination destination, Parts parts) {
        super(parts);
        this.destination = destination;
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // whatever a destination throws is a verdict
    boolean deliverNext(Run run) {
        WorkItem item = begin(run);
        if (item == null || !mayCallWith(run, item)) {
            return false;
        }
        DeliveryCall call = new DeliveryCall(options.now());
        if (!run.calling(call)) {
            return false;
        }
        Outcome outcome;
        try {
            destination.deliver(item);
            outcome = Outcome.done();
        } catch (Throwable failure) {
            outcome = Verdicts.outcome(failure);
        }
        DeliveryCall.Interruption interruption = call.end();
        run.called(options.now());
        if (outcome instanceof Outcome.Done) {
            accepted(item, call);
        }
        Verdict verdict = judge(run, item, outcome, call, interruption, false);
        if (verdict == null) {
            return false;
        }
        settler.add(verdicts.withRest(verdict));
        return verdict.letsItsRunGoOn();
    }
}
