package dev.outbox.delivery;

import dev.outbox.UnknownTypeException;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.internal.OneLine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
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
    final Verdicts verdicts;
    final RouteTable routes;
    final Settler settler;
    private final InFlight inFlight;
    final ErrorReport errors;
    private final BooleanSupplier stopping;

    /** What every form works with. */
    record Parts(PollerContext context, Settler settler, BooleanSupplier stopping) {}

    Delivery(Parts parts) {
        this.options = parts.context().options();
        this.verdicts = new Verdicts(options);
        this.routes = parts.context().routes();
        this.inFlight = parts.context().inFlight();
        this.settler = parts.settler();
        this.errors = parts.context().errors();
        this.stopping = parts.stopping();
    }

    /** The poller has been started. */
    void started() {}

    /** How many runs a worker takes at a time. */
    int runsPerCall() {
        return 1;
    }

    /**
     * Delivers these runs, or gives back what could not be. Their next items have one route.
     *
     * @return runs that go on: with an item of another route, or because they waited behind one of these
     */
    abstract List<Run> deliver(List<Run> runs);

    boolean isStopping() {
        return stopping.getAsBoolean();
    }

    /** The next item of the run, whose delivery begins now; null if none of it may be delivered. */
    @Nullable
    WorkItem begin(Run run) {
        WorkItem next = run.peek();
        if (next == null || isStopping() || run.isLost(options.now())) {
            return null;
        }
        return run.begin(options.now());
    }

    /** Whether a call may be made with this item, which is put off otherwise. */
    boolean mayCallWith(Run run, WorkItem item) {
        Route route = routes.of(item);
        if (mayCall(route, run)) {
            return true;
        }
        settler.add(verdicts.putOff(run, item, route.pause()));
        return false;
    }

    /** A slow route is called once per permit. */
    static boolean mayCall(Route route, Run run) {
        Route.Permit permit = run.permit();
        return !route.isSlow() || (permit != null && permit.use());
    }

    /**
     * What became of an item.
     *
     * @param besideSuccess whether the same call delivered other items: then the route is not to blame
     * @return null if the lease is lost, because then there is nothing to settle
     */
    @Nullable
    Verdict judge(Run run, WorkItem item, Outcome outcome, DeliveryCall call, boolean besideSuccess) {
        try {
            return judged(run, item, outcome, call, besideSuccess);
        } catch (Throwable e) { // exceptions are the user's classes: the verdicts on other items must not suffer
            errors.survived("deliver", e);
            return verdicts.failed(run, item, e, Route.Standing.HEALTHY, call.started());
        }
    }

    private @Nullable Verdict judged(
            Run run, WorkItem item, Outcome outcome, DeliveryCall call, boolean besideSuccess) {
        long started = call.started();
        if (outcome instanceof Outcome.Done) {
            return verdicts.done(run, item, started);
        }
        if (run.isTakenAway()) {
            inFlight.settled(run, item);
            return null;
        }
        if (call.endedBy() == DeliveryCall.Interruption.CLOSING) {
            return verdicts.release(run, item, true);
        }
        if (call.endedBy() == DeliveryCall.Interruption.TOO_LONG) {
            Throwable tooLong =
                    new TimeoutException("delivery took longer than maxDeliveryTime " + options.maxDeliveryTime());
            return verdicts.failed(run, item, tooLong, standing(item, tooLong, false, call, besideSuccess), started);
        }
        if (outcome instanceof Outcome.Dead dead) {
            return verdicts.dead(run, item, dead.cause(), started);
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return excused(run, item, unavailable.cause(), call, besideSuccess);
        }
        Throwable cause = ((Outcome.Retry) outcome).cause();
        if (cause instanceof RetryAfterException asked) {
            return verdicts.retryAfter(run, item, asked, started);
        }
        if (cause instanceof UnknownTypeException unknown) {
            return verdicts.unknownType(run, item, unknown, started);
        }
        if (cause instanceof Error error) {
            errors.survived(item, error);
        }
        if (isOutage(item, cause)) {
            return excused(run, item, cause, call, besideSuccess);
        }
        return verdicts.failed(run, item, cause, standing(item, cause, false, call, besideSuccess), started);
    }

    private Verdict excused(Run run, WorkItem item, Throwable cause, DeliveryCall call, boolean besideSuccess) {
        Route.Standing standing = standing(item, cause, true, call, besideSuccess);
        return verdicts.excused(run, item, cause, standing.pause(), call.started());
    }

    /** Whether a failure is recognised as an outage. A broken connection is one only if the route accepts nothing. */
    boolean isOutage(WorkItem item, Throwable cause) {
        return cause instanceof DestinationUnavailableException
                || isRecognised(cause)
                || (Outages.isBrokenConnection(cause) && routes.of(item).acceptsNothing(item, options.now()));
    }

    /** The predicate belongs to the user: if it fails, nothing is recognised. */
    private boolean isRecognised(Throwable cause) {
        try {
            return options.outage().test(cause);
        } catch (Throwable e) {
            errors.guarded(
                    "deliver",
                    () -> LOG.warn(
                            "poller {}: outage(...) failed on {}",
                            options.name(),
                            cause.getClass().getName(),
                            ErrorText.forLog(e)));
            return false;
        }
    }

    private Route.Standing standing(
            WorkItem item, Throwable cause, boolean recognised, DeliveryCall call, boolean besideSuccess) {
        if (besideSuccess) {
            routes.of(item).failedBesideSuccess(item);
            return Route.Standing.HEALTHY;
        }
        boolean last = options.retry().isExhausted(item.attempt());
        Route.Standing standing = routes.of(item).failed(item, recognised, last, call.started(), options.now());
        if (standing.slowedDown()) {
            errors.guarded("deliver", () -> {
                LOG.warn(
                        "poller {}: the destination of topic {} accepts nothing, so it is called less often: {}",
                        options.name(),
                        OneLine.of(item.topic()),
                        ErrorText.of(cause));
                options.emit(
                        () -> new OutboxEvent.DestinationDown(options.name(), item.topic(), cause, standing.pause()));
            });
        }
        return standing;
    }

    /** The destination has accepted an item. */
    void accepted(WorkItem item, DeliveryCall call) {
        if (routes.of(item).succeeded(call.started())) {
            errors.guarded("deliver", () -> {
                LOG.info(
                        "poller {}: the destination of topic {} accepts messages again",
                        options.name(),
                        OneLine.of(item.topic()));
                options.emit(() -> new OutboxEvent.DestinationUp(options.name(), item.topic()));
            });
        }
    }

    /** The runs that waited behind these to see whether their route accepts anything: they go on if it does. */
    final List<Run> behind(List<Run> runs) {
        List<Run> goOn = new ArrayList<>();
        for (Run run : runs) {
            if (!routes.of(run.first()).isSlow()) {
                goOn.addAll(run.takeBehind());
            }
        }
        return goOn;
    }

    /** Bad messages fill the front of the queue: the next call is to find others. */
    private void putOff(Run run) {
        WorkItem item = begin(run);
        if (item == null) {
            finish(run);
        } else {
            settler.add(verdicts.putOff(run, item, Route.LONGEST_PAUSE));
        }
    }

    /** Gives back what is left of a run, or drops it if its lease is lost. */
    final void finish(Run run) {
        Route.Permit permit = run.permit();
        if (permit != null) {
            permit.giveBack();
        }
        run.takeBehind().forEach(this::putOff);
        if (run.isLost(options.now())) {
            List<WorkItem> dropped = inFlight.lost(run, run.takeRest());
            errors.leaseLost("deliver", "the lease was lost before the delivery", dropped);
        } else {
            settler.add(verdicts.releaseRest(run));
        }
    }
}
