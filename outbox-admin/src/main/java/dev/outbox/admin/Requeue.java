package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * How dead letters are requeued: by whom and why, when they are due, and how many per second. Immutable: each method
 * returns a copy.
 *
 * @param delay until the first is due
 * @param rate how many per second are due from then on; 0 means all at once
 * @param forced whether inbox items are requeued that came longer ago than the inbox remembers
 * @param dryRun whether nothing is changed
 */
public record Requeue(String actor, String reason, Duration delay, int rate, boolean forced, boolean dryRun) {
    /** A rate without a limit. */
    static final int ALL_AT_ONCE = 0;

    private static final int MAX_RATE = 1_000_000;

    public Requeue {
        Require.text("actor", actor, Discard.MAX_ACTOR);
        Require.text("reason", reason, Discard.MAX_REASON);
        Require.notNegative("delay", delay);
        Require.between("rate", rate, ALL_AT_ONCE, MAX_RATE);
    }

    /** Names the operator and the reason; the audit table keeps both. All items are due at once by default. */
    public static Requeue by(String actor, String reason) {
        return new Requeue(actor, reason, Duration.ZERO, ALL_AT_ONCE, false, false);
    }

    /** How long from now the first is due. Default: at once. */
    public Requeue delay(Duration delay) {
        return new Requeue(actor, reason, delay, rate, forced, dryRun);
    }

    /** How many per second are due, 1 to 1,000,000, so that the destination is not flooded. Default: all at once. */
    public Requeue perSecond(int rate) {
        return new Requeue(actor, reason, delay, Require.between("rate", rate, 1, MAX_RATE), forced, dryRun);
    }

    /**
     * Requeues inbox items, too, that came longer ago than {@link Admin.Builder#inboxRetention}. Other systems may no longer
     * remember that they handled them. Default: they are skipped.
     */
    public Requeue force() {
        return new Requeue(actor, reason, delay, rate, true, dryRun);
    }

    /** Changes nothing; the result says what would be changed. */
    public Requeue asDryRun() {
        return new Requeue(actor, reason, delay, rate, forced, true);
    }
}
