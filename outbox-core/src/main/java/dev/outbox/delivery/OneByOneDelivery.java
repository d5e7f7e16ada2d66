package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One call per item, one item of a run after the other. */
abstract class OneByOneDelivery extends Delivery {
    OneByOneDelivery(Parts parts) {
        super(parts);
    }

    @Override
    final List<Run> deliver(List<Run> runs) {
        List<Run> goOn = new ArrayList<>();
        try {
            for (Run run : runs) {
                if (deliverOneRoute(run)) {
                    goOn.add(run);
                }
            }
            goOn.addAll(behind(runs));
        } finally {
            runs.stream().filter(run -> !goOn.contains(run)).forEach(this::finish);
        }
        return goOn;
    }

    /** @return whether the run goes on later: with an item of another route, or beside those that waited behind it */
    private boolean deliverOneRoute(Run run) {
        WorkItem next = run.peek();
        @Nullable Route route = next == null ? null : routes.of(next);
        while (next != null && deliverNext(run)) {
            next = run.peek();
            if (next != null && (routes.of(next) != route || hasOpenedTheWay(run))) {
                return true;
            }
        }
        return false;
    }

    private boolean hasOpenedTheWay(Run run) {
        return run.hasOthersBehind() && !routes.of(run.first()).isSlow();
    }

    private boolean deliverNext(Run run) {
        WorkItem item = begin(run);
        if (item == null || !mayCallWith(run, item)) {
            return false;
        }
        DeliveryCall call = new DeliveryCall(options.now());
        return run.calling(call) && deliver(run, item, call);
    }

    /** Calls the destination. @return whether the run goes on */
    abstract boolean deliver(Run run, WorkItem item, DeliveryCall call);

    /** @return whether the run goes on */
    final boolean settle(@Nullable Verdict verdict) {
        if (verdict == null) {
            return false;
        }
        settler.add(verdicts.withRest(verdict));
        return verdict.letsItsRunGoOn();
    }
}
