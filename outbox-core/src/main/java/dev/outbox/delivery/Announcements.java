package dev.outbox.delivery;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether each new item is announced by a wake-up, as far as is known: then a poller need not look for more after each
 * success. An item that comes without a wake-up, from another process, ends that for {@link #UNANNOUNCED_COUNTS}.
 *
 * <p>A wake-up follows its commit, and a claim may come in between. So a wake-up that comes {@linkplain #LATE a little} later
 * still announces what was claimed. Thread-safe.
 */
final class Announcements {
    /** For so long after an item that came without a wake-up, more such items are expected. */
    static final Duration UNANNOUNCED_COUNTS = Duration.ofSeconds(1);

    static final Duration LATE = Duration.ofMillis(20);

    private static final long NEVER = Long.MAX_VALUE;

    private final LongSupplier ticker;

    /** When an item was last found that no wake-up has announced. */
    private long unannounced;

    /** When one was found that a wake-up may still announce; {@link #NEVER} if there is none. */
    private long unannouncedYet = NEVER;

    /** Nothing is known at first, so items are expected to come without wake-ups. */
    Announcements(LongSupplier ticker) {
        this.ticker = ticker;
        this.unannounced = ticker.getAsLong();
    }

    /** A wake-up has come. */
    synchronized void announced() {
        unannouncedYet = NEVER;
    }

    /** A claim that no wake-up led to has found a new item. */
    synchronized void foundUnannounced() {
        long now = ticker.getAsLong();
        if (unannouncedYet != NEVER) {
            unannounced = now;
        }
        unannouncedYet = now;
    }

    synchronized boolean areComplete() {
        long now = ticker.getAsLong();
        return now - unannounced >= UNANNOUNCED_COUNTS.toNanos()
                && (unannouncedYet == NEVER || now - unannouncedYet < LATE.toNanos());
    }
}
