package dev.outbox.jdbc.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PhaseMarkerTest {
    @ParameterizedTest
    @CsvSource({
        "dev.outbox phase 0, LEGACY",
        "dev.outbox phase 1, ADDITIVE",
        "dev.outbox phase 2 since 2026-11-16T10:00:00Z, DUAL",
        "dev.outbox inbox phase 3, FLIPPED",
        "dev.outbox phase 3 renaming since 2026-11-16T10:00:00Z, RENAMING",
        "dev.outbox inbox phase 4, CLEAN"
    })
    void aMarkerTellsThePhase(String comment, Phase phase) {
        assertThat(PhaseMarker.read(comment)).map(PhaseMarker::phase).contains(phase);
        assertThat(PhaseMarker.read("Orders on their way\n" + comment + "\nask the shop team"))
                .map(PhaseMarker::phase)
                .contains(phase);
    }

    @Test
    void aMarkerTellsSinceWhen() {
        assertThat(PhaseMarker.read("dev.outbox phase 2 since 2026-11-16T10:00:00Z")
                        .flatMap(PhaseMarker::since))
                .contains(Instant.parse("2026-11-16T10:00:00Z"));
        assertThat(PhaseMarker.read("dev.outbox phase 2").flatMap(PhaseMarker::since))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "our outbox",
        "see dev.outbox phase 2",
        "dev.outbox phase 5",
        "dev.outbox phase 22",
        "dev.outbox phase 1 renaming",
        "''"
    })
    void anythingElseTellsNone(String comment) {
        assertThat(PhaseMarker.read(comment)).isEmpty();
    }

    @Test
    void noCommentTellsNone() {
        assertThat(PhaseMarker.read(null)).isEmpty();
    }
}
