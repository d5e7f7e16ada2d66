package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * The limits beyond which the health is {@link Health.State#DEGRADED}. Immutable: each method returns a copy.
 *
 * @param oldestDue how long an item may have been due
 * @param dead how many items may be Dead in a table
 * @param silence how long all known pollers may be silent
 */
public record HealthLimits(Duration oldestDue, int dead, Duration silence) {
    public HealthLimits {
        Require.notNegative("oldestDue", oldestDue);
        Require.between("dead", dead, 0, 1_000_000);
        Require.notNegative("silence", silence);
    }

    /** 5 minutes due, 100 Dead items, 2 minutes of silence. */
    public static HealthLimits standard() {
        return new HealthLimits(Duration.ofMinutes(5), 100, Duration.ofMinutes(2));
    }

    /** How long an item may have been due. */
    public HealthLimits oldestDue(Duration oldestDue) {
        return new HealthLimits(oldestDue, dead, silence);
    }

    /** How many items may be Dead in a table. */
    public HealthLimits dead(int dead) {
        return new HealthLimits(oldestDue, dead, silence);
    }

    /** How long all known pollers may be silent. */
    public HealthLimits silence(Duration silence) {
        return new HealthLimits(oldestDue, dead, silence);
    }
}
