package dev.outbox.jdbc.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecognitionTest {
    private static FoundTable recognize(Optional<PhaseMarker> marker, String... columns) {
        Set<String> names = Set.of(columns);
        return new Recognition(TableName.parse("shop.box"), names, names::contains, marker)
                .table(Optional.empty(), Map.of(), Map.of());
    }

    private static Optional<PhaseMarker> marker(String line) {
        return PhaseMarker.read(line);
    }

    @Test
    void theMarkerDecides() {
        FoundTable table = recognize(marker("dev.outbox inbox phase 2"), "work_item_id", "sequence", "blocks_key");

        assertThat(table.kind()).isEqualTo(TableKind.INBOX);
        assertThat(table.phase()).isEqualTo(Phase.DUAL);
        assertThat(table.marked()).isTrue();
    }

    @Test
    void withoutAMarkerTheCanonicalColumnsDo() {
        assertThat(recognize(Optional.empty(), "work_item_id", "sequence", "blocks_key")
                        .phase())
                .isEqualTo(Phase.CLEAN);
        assertThat(recognize(Optional.empty(), "work_item_id", "sequence").phase())
                .isEqualTo(Phase.LEGACY);
    }

    @Test
    void anInboxIsKnownByItsColumnsInAnySpelling() {
        assertThat(recognize(Optional.empty(), "FirstSeenUtc", "Source").kind()).isEqualTo(TableKind.INBOX);
        assertThat(recognize(Optional.empty(), "first_seen_on", "source", "FirstSeenUtc")
                        .kind())
                .isEqualTo(TableKind.INBOX);
        assertThat(recognize(Optional.empty(), "first_seen_on").kind()).isEqualTo(TableKind.OUTBOX);
    }

    @Test
    void aTableBetweenTwoPhasesMustSayWhichItIsIn() {
        assertThatThrownBy(() -> recognize(
                        Optional.empty(), "FirstSeenUtc", "first_seen_on", "Source", "legacy_write_on", "work_item_id"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"shop.box\" is between two phases of its migration, but its comment does not say"
                        + " which; restore the line \"dev.outbox inbox phase N\" in it");
    }
}
