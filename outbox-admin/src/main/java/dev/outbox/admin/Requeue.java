package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * How dead letters are put back: by whom and why, when they are due, and how many per second. Immutable: each method
 * returns a copy.
 *
 * @param delay until the first is due
 * @param rate how many per second are due from then on; 0 means all at once
 * @param forced also inbox items that came longer ago than the inbox remembers
 * @param dryRun only say what would be done
 */
public record Requeue(String actor, String reason, Duration delay, int rate, boolean forced, boolean dryRun) {
    /** No rate: all at once. */
    static final int ALL_AT_ONCE = 0;

    private static final int MAX_RATE = 1_000_000;

    public Requeue {
        Require.text("actor", actor, Discard.MAX_ACTOR);
        Require.text("reason", reason, Discard.MAX_REASON);
        Require.notNegative("delay", delay);
        Require.between("rate", rate, ALL_AT_ONCE, MAX_RATE);
    }

    /** Who does it, and why: both are kept in the audit table. All are due at once, if not told otherwise. */
    public static Requeue by(String actor, String reason) {
        return new Requeue(actor, reason, Duration.ZERO, ALL_AT_ONCE, false, false);
    }

    /** The first is due after this long. Default: at once. */
    public Requeue delay(Duration delay) {
        return new Requeue(actor, reason, delay, rate, forced, dryRun);
    }

    /** So many per second are due, 1 to 1,000,000, so that a destination is not flooded. Default: all at once. */
    public Requeue perSecond(int rate) {
        return new Requeue(actor, reason, delay, Require.between("rate", rate, 1, MAX_RATE), forced, dryRun);
    }

    /**
     * Also inbox items that came longer ago than {@link Admin.Builder#inboxRetention}: others may have forgotten what
     * they did with them. Default: they are skipped.
     */
    public Requeue force() {
        return new Requeue(actor, reason, delay, rate, true, dryRun);
    }

    /** Changes nothing, only says what would be done. */
    public Requeue asDryRun() {
        return new Requeue(actor, reason, delay, rate, forced, true);
    }
}
