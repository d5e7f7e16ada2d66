package dev.outbox.torture;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What network, database and machine do to those who work, and what is in no other turn. */
class EnvironmentSmokeIT extends TortureSmoke {
    static List<Set<Fault>> turns() {
        return List.of(NETWORK, DATABASE, others());
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
}
