package dev.outbox.torture;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What the checker found in a turn. Not thread-safe. */
final class Verdict {
    /** The ways in which a promise can be broken. */
    enum Violation {
        /** Committed, and not there, or finished without its effect. */
        LOST,
        /** An effect that happened twice, or that should not have happened at all. */
        DUPLICATED,
        /** The order of a key was not kept. */
        INVERTED,
        /** Not finished although nothing stands in its way, or on the way to be tried for ever. */
        STUCK,
        /** A lease or a write that the rules of leases forbid. */
        FENCED,
        /** Due, and passed over for too long while others of its route were accepted. */
        LATE
    }

    /** So many of each kind are described. */
    private static final int DETAILS = 10;

    private final Map<Violation, Integer> counts = new EnumMap<>(Violation.class);
    private final List<String> details = new ArrayList<>();
    private long messages;

    void add(Violation violation, String detail, Object... parameters) {
        if (counts.merge(violation, 1, Integer::sum) <= DETAILS) {
            details.add(violation + ": " + detail.formatted(parameters));
        }
    }

    void messages(long count) {
        messages = count;
    }

    long messages() {
        return messages;
    }

    int count(Violation violation) {
        return counts.getOrDefault(violation, 0);
    }

    boolean isClean() {
        return counts.isEmpty();
    }

    /** The first few. */
    List<String> details() {
        return List.copyOf(details);
    }

    /** The first one of this kind; empty if there is none. */
    String example(Violation violation) {
        return details.stream()
                .filter(detail -> detail.startsWith(violation.name()))
                .findFirst()
                .orElse("");
    }

    @Override
    public String toString() {
        return messages + " messages, " + (isClean() ? "no violation" : counts + " " + details);
    }
}
