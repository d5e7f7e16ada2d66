package dev.outbox.torture;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ends of workers, and what messages bring with them. */
class TortureSmokeIT extends TortureSmoke {
    static List<Set<Fault>> turns() {
        return List.of(STEPS, ENDS, MESSAGES, EnumSet.of(Fault.MIGRATION, Fault.KILL));
    }

    @ParameterizedTest
    @MethodSource("turns")
    void noPromiseIsBroken(Set<Fault> faults) {
        assertClean(faults);
    }
}
