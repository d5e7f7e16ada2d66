package dev.outbox.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What a child JVM is told at its start, as system properties.
 *
 * @param backlog so many messages may wait; with more, the producers pause
 * @param crashAt the step at which a worker dies, or null
 * @param crashPass at the so-manieth time
 */
record ChildSettings(
        String name,
        String jdbcUrl,
        Tables tables,
        Set<Fault> faults,
        long seed,
        Path history,
        String variant,
        int backlog,
        Step crashAt,
        int crashPass) {
    /** Short, so that what a dead worker held comes back soon; long against a busy machine. */
    static final Duration LEASE = Duration.ofSeconds(4);

    static final Duration MAX_DELIVERY_TIME = Duration.ofSeconds(10);
    static final Duration MAX_DELIVERY_TIME_OF_SLOW_DESTINATIONS = Duration.ofSeconds(1);

    List<String> toOptions() {
        return List.of(
                "-Dchild.name=" + name,
                "-Dchild.url=" + jdbcUrl,
                "-Dchild.turn=" + tables.turn(),
                "-Dchild.faults=" + Fault.format(faults),
                "-Dchild.seed=" + seed,
                "-Dchild.history=" + history,
                "-Dchild.variant=" + variant,
                "-Dchild.backlog=" + backlog,
                "-Dchild.crashAt=" + (crashAt == null ? "" : crashAt.name()),
                "-Dchild.crashPass=" + crashPass);
    }

    static ChildSettings fromProperties() {
        String crashAt = property("crashAt");
        return new ChildSettings(
                property("name"),
                property("url"),
                new Tables(Integer.parseInt(property("turn"))),
                Fault.parse(property("faults")),
                Long.parseLong(property("seed")),
                Path.of(property("history")),
                property("variant"),
                Integer.parseInt(property("backlog")),
                crashAt.isEmpty() ? null : Step.valueOf(crashAt),
                Integer.parseInt(property("crashPass")));
    }

    private static String property(String name) {
        String value = System.getProperty("child." + name);
        if (value == null) {
            throw new IllegalStateException("child." + name + " is not set; a child is started by the harness");
        }
        return value;
    }

    boolean has(Fault fault) {
        return faults.contains(fault);
    }

    int maxAttempts() {
        return maxAttempts(faults);
    }

    /**
     * Innocent messages never use up so many attempts; poison has to, so that it is Dead before long. With a destination
     * that flaps there are few enough attempts to run out during an outage, if an outage could use them up.
     */
    static int maxAttempts(Set<Fault> faults) {
        if (faults.contains(Fault.POISON)) {
            return 3;
        }
        return faults.contains(Fault.POISON_STORM) ? 6 : faults.contains(Fault.FLAPPING) ? 20 : 60;
    }

    /**
     * A poller halves its batches while they take long. With huge payloads it must not: the count alone would soon keep
     * a claim within the heap.
     */
    int minBatch() {
        return has(Fault.HUGE_PAYLOADS) ? 100 : 20;
    }

    Duration maxDeliveryTime() {
        return has(Fault.SLOW_DESTINATION) ? MAX_DELIVERY_TIME_OF_SLOW_DESTINATIONS : MAX_DELIVERY_TIME;
    }
}
