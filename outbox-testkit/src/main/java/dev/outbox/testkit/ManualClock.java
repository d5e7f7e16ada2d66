package dev.outbox.testkit;

import dev.outbox.internal.Require;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until a test advances it. Starts at 2026-01-01T00:00:00Z. Thread-safe. */
public final class ManualClock extends Clock {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final AtomicLong elapsedNanos;
    private final ZoneId zone;

    public ManualClock() {
        this(new AtomicLong(), ZoneOffset.UTC);
    }

    private ManualClock(AtomicLong elapsedNanos, ZoneId zone) {
        this.elapsedNanos = elapsedNanos;
        this.zone = zone;
    }

    /**
     * Advances the clock by this duration.
     *
     * @param step must not be negative
     */
    public void advance(Duration step) {
        Require.notNegative("step", step);
        elapsedNanos.addAndGet(step.toNanos());
    }

    /** The time that has passed, as {@link System#nanoTime} would count it: the ticker of a poller. */
    public long nanoTime() {
        return elapsedNanos.get();
    }

    @Override
    public Instant instant() {
        return START.plusNanos(elapsedNanos.get());
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    /** The same clock in another zone; both advance together. */
    @Override
    public ManualClock withZone(ZoneId zone) {
        return new ManualClock(elapsedNanos, zone);
    }
}
