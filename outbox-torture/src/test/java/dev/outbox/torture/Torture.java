package dev.outbox.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * The torture from the command line: turn after turn, one fault each, until the time is up and every fault has had its
 * turn; or with {@code -Dtorture.mutants} a turn per broken variant, which must be caught.
 */
final class Torture {
    private static final Duration LONGEST_LOAD = Duration.ofSeconds(30);
    private static final Duration SHORTEST_LOAD = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final int WORKERS = 3;
    private static final int BACKLOG = 4_000;

    /** The hot key is soon all that waits, and goes one by one. */
    private static final int BACKLOG_OF_THE_HOT_KEY = 1_000;

    /**
     * Without kills in the background: where deaths are the fault itself, and where the same pollers have to live through
     * it, because a new one would find what an old one has lost sight of.
     */
    private static final Set<Fault> UNDISTURBED = EnumSet.range(Fault.KILL_BEFORE_CLAIM, Fault.KILL_AFTER_COMMIT);

    static {
        UNDISTURBED.addAll(EnumSet.of(
                Fault.POISON,
                Fault.POISON_STORM,
                Fault.FLAPPING,
                Fault.HUGE_PAYLOADS,
                Fault.HOT_KEY,
                Fault.OLD_SNAPSHOT,
                Fault.CLOCK_JUMP,
                Fault.DEADLOCK,
                Fault.POOL_EXHAUSTION,
                Fault.BLACK_HOLE_TO_CLIENT,
                Fault.BLACK_HOLE_TO_SERVER));
    }

    private Torture() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(System.getProperty("torture.directory", "target"));
        long seed = Long.parseLong(given("torture.seed", String.valueOf(System.nanoTime() & 0xFFFFFF)));
        String mutants = given("torture.mutants", "");
        boolean good;
        try (Server server = Server.start(directory)) {
            good = mutants.isEmpty()
                    ? run(server, directory, seed)
                    : MutantRun.run(server, directory, seed, MutantRun.named(mutants));
        }
        System.exit(good ? 0 : 1);
    }

    private static String given(String property, String otherwise) {
        String value = System.getProperty(property, "");
        return value.isBlank() ? otherwise : value.strip();
    }

    private static boolean run(Server server, Path directory, long seed) {
        Duration duration = Duration.parse(given("torture.duration", "PT2M"));
        Set<Fault> faults = EnumSet.copyOf(Fault.parse(given("torture.faults", "all")));
        if (faults.contains(Fault.PGBOUNCER) && !PgBouncer.isInstalled()) {
            System.out.println("SKIPPED: pgbouncer, which is not installed on this machine");
            faults.remove(Fault.PGBOUNCER);
        }
        System.out.printf("torture for %s, seed %d, faults %s%n", duration, seed, Fault.format(faults));
        Results results = new Results();
        long start = System.nanoTime();
        long end = start + duration.toNanos();
        List<Fault> order = new ArrayList<>(faults);
        // a fifth of a turn goes by in peace
        Duration load = between(SHORTEST_LOAD, duration.multipliedBy(8).dividedBy(10L * order.size()), LONGEST_LOAD);
        for (int turn = 1; turn <= order.size() || System.nanoTime() - end < 0; turn++) {
            Fault fault = order.get((turn - 1) % order.size());
            Turn.Result result = Turn.run(
                    new Turn.Plan(
                            new Tables(turn),
                            EnumSet.of(fault),
                            faults.contains(Fault.KILL) && !UNDISTURBED.contains(fault),
                            false,
                            load,
                            PATIENCE,
                            // of its own, so that it can be run again alone
                            new Random(seed).nextLong() + 31L * fault.ordinal() + 1_009L * ((turn - 1) / order.size()),
                            Variant.Honest.class.getName(),
                            WORKERS,
                            fault == Fault.HOT_KEY ? BACKLOG_OF_THE_HOT_KEY : BACKLOG,
                            directory.resolve("torture-history").resolve("turn-" + turn)),
                    server);
            results.add(fault, result);
            System.out.printf(
                    "%4d s  turn %d  %-20s %s, %d deliveries, %d fenced, %d kills, worked off in %d ms%n",
                    (System.nanoTime() - start) / 1_000_000_000,
                    turn,
                    fault,
                    result.verdict(),
                    result.delivered(),
                    result.fenced(),
                    result.kills(),
                    result.recovery().toMillis());
        }
        System.out.println();
        System.out.print(results.table());
        results.write(directory.resolve("torture.csv"));
        System.out.printf("%s, seed %d%n", results.summary(), seed);
        if (!results.isClean()) {
            System.out.println("histories are kept in " + directory.resolve("torture-history"));
        }
        return results.isClean();
    }

    private static Duration between(Duration least, Duration value, Duration most) {
        return value.compareTo(least) < 0 ? least : value.compareTo(most) > 0 ? most : value;
    }
}
