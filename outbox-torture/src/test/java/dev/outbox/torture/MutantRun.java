package dev.outbox.torture;

import dev.outbox.torture.Verdict.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** Shows that the suite can fail: each mutant gets turns under the faults that bring it to light. */
final class MutantRun {
    private static final Duration LOAD = Duration.ofSeconds(12);
    private static final Duration PATIENCE = Duration.ofSeconds(4);
    private static final Duration PATIENCE_WITH_THE_INNOCENT = Duration.ofSeconds(60);

    private static final int WORKERS = 3;
    private static final int BACKLOG = 1_000;

    /** Chance decides when a fault meets a mistake; so a mutant may need more than one turn. */
    private static final int MOST_TURNS = 4;

    private MutantRun() {}

    /**
     * @param violation what it must be caught by; what else is found does not count
     * @param faults what brings it to light
     */
    record Mutant(Class<? extends Variant> variant, Violation violation, Set<Fault> faults) {
        Mutant(Class<? extends Variant> variant, Violation violation, Fault... faults) {
            this(
                    variant,
                    violation,
                    faults.length == 0 ? EnumSet.noneOf(Fault.class) : EnumSet.copyOf(List.of(faults)));
        }

        /** {@code NoTokenCheckOnSettle} as {@code no-token-check-on-settle}. */
        @Override
        public String toString() {
            return variant.getSimpleName().replaceAll("(?<!^)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
        }
    }

    static List<Mutant> all() {
        return List.of(
                new Mutant(Mutants.NoTokenCheckOnSettle.class, Violation.FENCED, Fault.PAUSE),
                new Mutant(Mutants.FencedSettleNotReported.class, Violation.FENCED, Fault.PAUSE),
                new Mutant(InSubqueryClaim.class, Violation.FENCED),
                new Mutant(Mutants.ApplicationClock.class, Violation.FENCED, Fault.CLOCK_JUMP),
                new Mutant(Mutants.NoStatusRecheck.class, Violation.FENCED),
                new Mutant(Mutants.LowWaterMarkOnKeys.class, Violation.INVERTED, Fault.HOT_KEY),
                new Mutant(Mutants.InFlightRowsIgnored.class, Violation.INVERTED),
                new Mutant(Mutants.NoProbeForLeasedRows.class, Violation.INVERTED, Fault.HOT_KEY),
                new Mutant(Mutants.AttemptNotCountedAtClaim.class, Violation.STUCK, Fault.POISON),
                new Mutant(Mutants.ExpiredLeasesNeverFound.class, Violation.STUCK, Fault.KILL),
                new Mutant(Mutants.AckOutsideTheHandlersTransaction.class, Violation.LOST, Fault.KILL_BEFORE_COMMIT),
                new Mutant(Mutants.EnqueueOutsideTheCallersTransaction.class, Violation.DUPLICATED),
                new Mutant(Mutants.SequenceBeforeTheLock.class, Violation.INVERTED),
                new Mutant(Mutants.RivalAnsweredDuplicateEarly.class, Violation.LOST, Fault.DUPLICATE_STORM),
                new Mutant(Mutants.EveryReceiptIsTheFirst.class, Violation.DUPLICATED, Fault.KILL_AFTER_COMMIT),
                new Mutant(Mutants.AlteredContentNotNoticed.class, Violation.DUPLICATED, Fault.DUPLICATE_STORM),
                new Mutant(Mutants.NoSyncInTheDatabase.class, Violation.STUCK, Fault.MIGRATION),
                new Mutant(Mutants.FailuresHeldBack.class, Violation.LATE),
                new Mutant(Mutants.ClaimsNotBoundedByBytes.class, Violation.STUCK, Fault.HUGE_PAYLOADS));
    }

    /** @param names {@code all}, or names with commas between them */
    static List<Mutant> named(String names) {
        return names.equals("all")
                ? all()
                : Stream.of(names.split(","))
                        .map(name -> all().stream()
                                .filter(mutant -> mutant.toString().equals(name.strip()))
                                .findFirst()
                                .orElseThrow(() -> new IllegalArgumentException(
                                        "there is no mutant \"" + name + "\"; use all, or some of " + all())))
                        .toList();
    }

    /** One turn after the other, alike for the library as it is and for what is made of it. */
    private static final class Trial {
        private final Server server;
        private final Path directory;
        private final long seed;
        private int turns;

        Trial(Server server, Path directory, long seed) {
            this.server = server;
            this.directory = directory;
            this.seed = seed;
        }

        Verdict run(Set<Fault> faults, Class<? extends Variant> variant, int times, Duration patience) {
            turns++;
            return Turn.run(
                            new Turn.Plan(
                                    new Tables(turns),
                                    faults,
                                    false,
                                    false,
                                    LOAD.multipliedBy(times),
                                    patience,
                                    seed + turns,
                                    variant.getName(),
                                    WORKERS,
                                    BACKLOG,
                                    directory.resolve("turn-" + turns)),
                            server)
                    .verdict();
        }
    }

    /** Whether each mutant is caught, and the library itself is not: under the same faults it has to be found innocent. */
    static boolean run(Server server, Path directory, long seed, List<Mutant> mutants) {
        System.out.printf("mutants %s, seed %d%n", mutants, seed);
        List<String> lines = new ArrayList<>(List.of("mutant,caught,seconds"));
        Trial trial = new Trial(server, directory.resolve("mutant-history"), seed);
        boolean allCaught = true;
        for (Set<Fault> faults : mutants.stream().map(Mutant::faults).distinct().toList()) {
            Verdict verdict = trial.run(faults, Variant.Honest.class, 1, PATIENCE_WITH_THE_INNOCENT);
            System.out.printf("the library itself, faults %s: %s%n", Fault.format(faults), verdict);
            allCaught &= verdict.isClean();
        }
        for (Mutant mutant : mutants) {
            long start = System.nanoTime();
            Verdict verdict = new Verdict();
            boolean caught = false;
            for (int i = 1; i <= MOST_TURNS && !caught; i++) {
                verdict = trial.run(mutant.faults(), mutant.variant(), i, PATIENCE);
                caught = verdict.count(mutant.violation()) > 0;
            }
            long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
            allCaught &= caught;
            lines.add(mutant + "," + caught + "," + seconds);
            System.out.printf(
                    "%-42s %s after %d s  %s%n",
                    mutant, caught ? "caught" : "NOT CAUGHT", seconds, verdict.example(mutant.violation()));
        }
        try {
            Files.write(directory.resolve("mutants.csv"), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return allCaught;
    }
}
