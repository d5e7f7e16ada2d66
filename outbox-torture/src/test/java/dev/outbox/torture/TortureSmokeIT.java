package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every fault at least once, several in one turn. The long run is in profile torture. */
class TortureSmokeIT {
    private static final int WORKERS = 2;
    private static final int BACKLOG = 150;
    private static final AtomicInteger TURNS = new AtomicInteger();

    @TempDir
    static Path directory;

    private static Server server;

    @BeforeAll
    static void startServer() {
        server = Server.start(directory);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    static List<Set<Fault>> turns() {
        Set<Fault> steps = EnumSet.range(Fault.KILL_BEFORE_CLAIM, Fault.KILL_AFTER_COMMIT);
        Set<Fault> network = EnumSet.range(Fault.RESET, Fault.BLACK_HOLE_IN_COMMIT);
        Set<Fault> database = EnumSet.of(
                Fault.DATABASE_CRASH,
                Fault.BACKEND_TERMINATION,
                Fault.DEADLOCK,
                Fault.POOL_EXHAUSTION,
                Fault.OLD_SNAPSHOT);
        Set<Fault> messages = EnumSet.of(Fault.POISON, Fault.DUPLICATE_STORM);
        // Apart from those that hold a key back: items whose lease expires again and again are put off for minutes.
        Set<Fault> ends = EnumSet.of(Fault.KILL, Fault.PAUSE, Fault.SIGTERM, Fault.CLOCK_JUMP);
        Set<Fault> others = EnumSet.complementOf(EnumSet.of(Fault.PGBOUNCER, Fault.MIGRATION));
        List<Set<Fault>> turns =
                List.of(steps, network, database, messages, ends, others, EnumSet.of(Fault.MIGRATION, Fault.KILL));
        turns.subList(0, 5).forEach(others::removeAll);
        return turns;
    }

    @ParameterizedTest
    @MethodSource("turns")
    void noPromiseIsBroken(Set<Fault> faults) {
        assertClean(faults);
    }

    @Test
    void noPromiseIsBrokenBehindPgBouncer() {
        assumeTrue(
                PgBouncer.isInstalled(),
                "SKIPPED: no pgbouncer on this machine; install it (Debian: apt install pgbouncer)");
        assertClean(EnumSet.of(Fault.PGBOUNCER, Fault.KILL));
    }

    private static void assertClean(Set<Fault> faults) {
        int turn = TURNS.incrementAndGet();
        Turn.Result result = Turn.run(
                new Turn.Plan(
                        new Tables(turn),
                        faults,
                        false,
                        true,
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(60),
                        turn,
                        Variant.Honest.class.getName(),
                        WORKERS,
                        BACKLOG,
                        directory.resolve("turn-" + turn)),
                server);

        assertThat(result.verdict().details()).as("violations of %s", faults).isEmpty();
        assertThat(result.verdict().messages()).isPositive();
        assertThat(result.injected().keySet()).as("injected").containsAll(faults);
        assertThat(result.injected())
                .allSatisfy((fault, times) ->
                        assertThat(times).as("%s was injected", fault).isPositive());
    }
}
