package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Some faults at least once, several in one turn, of all that there are. The long run is in profile torture. */
abstract class TortureSmoke {
    private static final int WORKERS = 2;
    private static final int BACKLOG = 150;
    private static final AtomicInteger TURNS = new AtomicInteger();

    @TempDir
    static Path directory;

    private static Server server;

    static final Set<Fault> STEPS = EnumSet.range(Fault.KILL_BEFORE_CLAIM, Fault.KILL_AFTER_COMMIT);
    static final Set<Fault> NETWORK = EnumSet.range(Fault.RESET, Fault.BLACK_HOLE_IN_COMMIT);
    static final Set<Fault> DATABASE = EnumSet.of(
            Fault.DATABASE_CRASH, Fault.BACKEND_TERMINATION, Fault.DEADLOCK, Fault.POOL_EXHAUSTION, Fault.OLD_SNAPSHOT);
    static final Set<Fault> MESSAGES =
            EnumSet.of(Fault.POISON, Fault.POISON_STORM, Fault.DUPLICATE_STORM, Fault.HUGE_PAYLOADS);

    /** Apart from those that hold a key back: items whose lease expires again and again are put off for minutes. */
    static final Set<Fault> ENDS = EnumSet.of(Fault.KILL, Fault.PAUSE, Fault.SIGTERM, Fault.CLOCK_JUMP);

    /** What is in no other turn. */
    static Set<Fault> others() {
        Set<Fault> others = EnumSet.complementOf(EnumSet.of(Fault.PGBOUNCER, Fault.MIGRATION));
        List.of(STEPS, NETWORK, DATABASE, MESSAGES, ENDS).forEach(others::removeAll);
        return others;
    }

    @BeforeAll
    static void startServer() {
        server = Server.start(directory);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    static void assertClean(Set<Fault> faults) {
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
