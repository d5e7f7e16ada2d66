package dev.outbox.torture;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** What can go wrong, by the names of {@code -Dtorture.faults}. */
enum Fault {
    /** SIGKILL of a worker, now and then of a producer, at any moment. */
    KILL(1_200),
    KILL_BEFORE_CLAIM(Step.BEFORE_CLAIM),
    KILL_AFTER_CLAIM(Step.AFTER_CLAIM),
    KILL_BEFORE_EFFECT(Step.BEFORE_EFFECT),
    KILL_AFTER_EFFECT(Step.AFTER_EFFECT),
    KILL_BEFORE_SETTLE(Step.BEFORE_SETTLE),
    KILL_AFTER_SETTLE(Step.AFTER_SETTLE),
    KILL_BEFORE_COMMIT(Step.BEFORE_COMMIT),
    KILL_AFTER_COMMIT(Step.AFTER_COMMIT),
    /** SIGSTOP of a worker until its leases have long run out, then SIGCONT. */
    PAUSE(300),
    /** RST on every connection. */
    RESET(700),
    RESET_IN_COMMIT(150),
    BLACK_HOLE_TO_SERVER(3_500),
    BLACK_HOLE_TO_CLIENT(3_500),
    BLACK_HOLE_IN_COMMIT(400),
    /** SIGKILL of every process of the database, and recovery. */
    DATABASE_CRASH(4_000),
    /** {@code pg_terminate_backend} of some connections. */
    BACKEND_TERMINATION(300),
    /** Producers and consumers that take locks in opposite orders. */
    DEADLOCK(500),
    /** All connections of a worker's pool are taken for a while. */
    POOL_EXHAUSTION(1_000),
    /** The clock of a worker goes wrong by up to an hour, either way. */
    CLOCK_JUMP(500),
    /** A transaction of long ago keeps the database from cleaning up. */
    OLD_SNAPSHOT(0),
    /** Messages that always fail, and some that kill the JVM that delivers them. */
    POISON(0),
    /** A third of the messages have one key, and its head fails now and then; Dead ones of it are requeued. */
    HOT_KEY(150),
    /** Every message comes twice at a time, one of the two rolls back, some are altered. */
    DUPLICATE_STORM(0),
    /** SIGTERM in the middle of a batch. */
    SIGTERM(1_200),
    /** The outbox is a legacy table, is migrated while everybody works, and some write it the old way for a while. */
    MIGRATION(0),
    /** PgBouncer in transaction mode between everybody and the database; where it is installed. */
    PGBOUNCER(0),
    /** Bursts of messages that always fail, beside good ones. */
    POISON_STORM(0),
    /** The destination is down for about a second, every two seconds. */
    FLAPPING(2_000),
    /** Calls take long for a while, some longer than they may. */
    SLOW_DESTINATION(4_000),
    /** Messages of the largest payload, in workers with a small heap. */
    HUGE_PAYLOADS(0);

    private final Step step;
    private final Duration every;

    Fault(Step step) {
        this.step = step;
        this.every = Duration.ZERO;
    }

    Fault(int everyMillis) {
        this.step = null;
        this.every = Duration.ofMillis(everyMillis);
    }

    /** The step at which workers die; null if it is not about that. */
    Step step() {
        return step;
    }

    /** Death at this step. */
    static Fault at(Step step) {
        return Arrays.stream(values())
                .filter(fault -> fault.step == step)
                .findFirst()
                .orElseThrow();
    }

    /** How long from one injection to the next, about; zero if it is a matter of the whole turn. */
    Duration every() {
        return every;
    }

    /** Whether a child does it to itself when it is told to, and writes down that it has. */
    boolean isDoneByAChild() {
        return switch (this) {
            case PAUSE, POOL_EXHAUSTION, CLOCK_JUMP, DUPLICATE_STORM -> true;
            case POISON_STORM, FLAPPING, SLOW_DESTINATION, HUGE_PAYLOADS -> true;
            default -> false;
        };
    }

    boolean isOfTheNetwork() {
        return switch (this) {
            case RESET, RESET_IN_COMMIT, BLACK_HOLE_TO_SERVER, BLACK_HOLE_TO_CLIENT, BLACK_HOLE_IN_COMMIT -> true;
            default -> false;
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** {@code all}, or names with commas between them. */
    static Set<Fault> parse(String names) {
        Set<Fault> faults = EnumSet.noneOf(Fault.class);
        for (String name : names.split(",")) {
            if (name.isBlank()) {
                continue;
            }
            if (name.strip().equals("all")) {
                faults.addAll(EnumSet.allOf(Fault.class));
                continue;
            }
            faults.add(named(name.strip()));
        }
        return faults;
    }

    static Fault named(String name) {
        return Arrays.stream(values())
                .filter(fault -> fault.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no fault \"" + name
                        + "\"; use all, or some of "
                        + Arrays.stream(values()).map(Fault::toString).collect(Collectors.joining(","))));
    }

    static String format(Set<Fault> faults) {
        return faults.stream().map(Fault::toString).collect(Collectors.joining(","));
    }
}
