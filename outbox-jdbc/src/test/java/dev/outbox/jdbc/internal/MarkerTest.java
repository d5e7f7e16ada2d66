package dev.outbox.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkerTest {
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
        assertThat(Marker.read(comment)).map(Marker::phase).contains(phase);
        assertThat(Marker.read("Orders on their way\n" + comment + "\nask the shop team"))
                .map(Marker::phase)
                .contains(phase);
    }

    @Test
    void aMarkerTellsSinceWhen() {
        assertThat(Marker.read("dev.outbox phase 2 since 2026-11-16T10:00:00Z").flatMap(Marker::since))
                .contains(Instant.parse("2026-11-16T10:00:00Z"));
        assertThat(Marker.read("dev.outbox phase 2").flatMap(Marker::since)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "our outbox",
        "see dev.outbox phase 2",
        "dev.outbox phase 5",
        "dev.outbox phase 22",
        "dev.outbox phase 1 settling",
        "''"
    })
    void anythingElseTellsNone(String comment) {
        assertThat(Marker.read(comment)).isEmpty();
    }

    @Test
    void noCommentTellsNone() {
        assertThat(Marker.read(null)).isEmpty();
    }
}
