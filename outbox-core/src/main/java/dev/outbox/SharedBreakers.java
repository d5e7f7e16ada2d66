package dev.outbox;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * What several pollers know together about their destinations: which of them are down. However many pollers
 * share it, a destination that is down is probed as if there were one. {@link WorkQueue#poller()} gives all pollers
 * of an outbox or inbox the same; pollers over a {@linkplain Poller#from source of your own} are given one with {@link
 * PollerBuilder#breakers}.
 *
 * <p>Pollers share a breaker if their destination is the same object, or an equal one, and their {@link
 * BreakerPolicy} and {@link PollerBuilder#maxDeliveryTime} are equal. A lambda or method reference that is
 * written once per poller is another object each time.
 *
 * <p>Thread-safe. Keeps neither pollers nor destinations from being garbage collected.
 */
public final class SharedBreakers {
    private final List<WeakReference<Breaker>> known = new ArrayList<>();
    private final Set<Breakers> pollers = Collections.newSetFromMap(new WeakHashMap<>());

    synchronized void join(Breakers poller) {
        pollers.add(poller);
    }

    /** The caller keeps it: here it is forgotten together with the last poller that uses it. */
    synchronized Breaker of(Object route, BreakerPolicy policy, Duration longestProbe) {
        known.removeIf(one -> one.get() == null);
        for (WeakReference<Breaker> one : known) {
            Breaker breaker = one.get();
            if (breaker != null && breaker.isFor(route, policy, longestProbe)) {
                return breaker;
            }
        }
        Breaker breaker = new Breaker(route, policy, longestProbe);
        known.add(new WeakReference<>(breaker));
        return breaker;
    }

    /** A destination is back: nobody needs to wait for the end of a pause any more. */
    void wakeAll() {
        List<Breakers> all;
        synchronized (this) {
            all = List.copyOf(pollers);
        }
        all.forEach(Breakers::wake);
    }
}
