package dev.outbox.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PhaseTest {
    @ParameterizedTest
    @CsvSource({
        "dev.outbox phase 0, LEGACY",
        "dev.outbox phase 1, ADDITIVE",
        "dev.outbox phase 2 since 2026-11-16T10:00:00Z, DUAL",
        "dev.outbox inbox phase 3, FLIPPED",
        "dev.outbox phase 3 settling since 2026-11-16T10:00:00Z, SETTLING",
        "dev.outbox inbox phase 4, CLEAN"
    })
    void aMarkerTellsThePhase(String comment, Phase phase) {
        assertThat(Phase.read(comment)).contains(phase);
        assertThat(Phase.read("Orders on their way\n" + comment + "\nask the shop team"))
                .contains(phase);
    }

    @ParameterizedTest
    @CsvSource({"our outbox", "see dev.outbox phase 2", "dev.outbox phase 5", "dev.outbox phase 22", "''"})
    void anythingElseTellsNone(String comment) {
        assertThat(Phase.read(comment)).isEmpty();
    }

    @Test
    void noCommentTellsNone() {
        assertThat(Phase.read(null)).isEmpty();
    }
}
