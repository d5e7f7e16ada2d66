package dev.outbox.testkit.poller;

import dev.outbox.delivery.Poller;
import dev.outbox.testkit.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The store's clock and a poller's ticker, moved by hand together or apart. */
final class TestTime {
    /** Between two polls of {@link #pollFor}. */
    static final Duration STEP = Duration.ofMillis(50);

    final ManualClock store = new ManualClock();
    private final AtomicLong ticker = new AtomicLong();
    private final AtomicInteger renewerLooks = new AtomicInteger();

    long ticker() {
        if (Thread.currentThread().getName().endsWith("-renew")) {
            renewerLooks.incrementAndGet();
        }
        return ticker.get();
    }

    /** Time passes for everybody; for the poller first, so that it never claims what it still believes to hold. */
    void pass(Duration step) {
        ticker.addAndGet(step.toNanos());
        store.advance(step);
    }

    /** Time passes in the store only: leases run out there, and the poller does not know. */
    void passInStore(Duration step) {
        store.advance(step);
    }

    /** Time passes for the poller only, as if it had been paused. */
    void passForPoller(Duration step) {
        ticker.addAndGet(step.toNanos());
    }

    /** Has all of these poll, again and again, while time passes; before each poll something may happen. */
    void pollFor(Duration span, List<Poller> pollers, Runnable atEachStep) {
        for (Duration left = span; !left.isZero(); left = left.minus(STEP)) {
            atEachStep.run();
            pollers.forEach(Poller::pollOnce);
            pass(STEP);
        }
    }

    /** Waits until the renewer has looked at the time, and acted on it, at least once from now on. */
    void awaitRenewer() {
        int seen = renewerLooks.get();
        Fixture.await("the renewer looks at the time").until(() -> renewerLooks.get() > seen + 4);
    }
}
