package dev.outbox.admin;

import dev.outbox.internal.Require;

/**
 * How dead letters are discarded: by whom and why. Immutable.
 *
 * @param dryRun whether nothing is changed
 */
public record Discard(String actor, String reason, boolean dryRun) {
    static final int MAX_ACTOR = 255;
    static final int MAX_REASON = 2_000;

    public Discard {
        Require.text("actor", actor, MAX_ACTOR);
        Require.text("reason", reason, MAX_REASON);
    }

    /** Names the operator and the reason; the audit table keeps both. */
    public static Discard by(String actor, String reason) {
        return new Discard(actor, reason, false);
    }

    /** Changes nothing; the result says what would be changed. */
    public Discard asDryRun() {
        return new Discard(actor, reason, true);
    }
}
