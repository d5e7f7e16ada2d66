package dev.outbox.admin;

import java.util.List;

/**
 * Whether messages flow.
 *
 * @param reasons why it is not {@link State#UP}, in sentences for people
 */
public record Health(State state, List<String> reasons) {
    /** From good to bad. */
    public enum State {
        /** Messages flow. */
        UP,
        /** At least one figure is beyond its limit. */
        DEGRADED,
        /** The database does not answer, or the table is missing. */
        DOWN
    }

    public Health {
        reasons = List.copyOf(reasons);
    }

    static Health of(List<String> reasons) {
        return new Health(reasons.isEmpty() ? State.UP : State.DEGRADED, reasons);
    }
}
