package dev.outbox.jdbc.internal.catalog;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Tells the kind and the phase of a table: by its marker, and by its columns where it has none.
 *
 * @param columns as they are spelled
 * @param has whether there is a column for this canonical name
 */
record Recognition(TableName name, Set<String> columns, Predicate<String> has, Optional<PhaseMarker> marker) {
    FoundTable table(Optional<String> consumer, Map<String, Column> found, Map<String, Index> indexes) {
        return new FoundTable(
                name,
                kind(),
                phase(),
                marker.isPresent(),
                marker.flatMap(PhaseMarker::since),
                consumer,
                found,
                indexes);
    }

    private TableKind kind() {
        return marker.map(PhaseMarker::kind)
                .orElseGet(() -> isLike("first_seen_on") && isLike("source") ? TableKind.INBOX : TableKind.OUTBOX);
    }

    private boolean isLike(String inboxColumn) {
        return new ColumnNames(name.toString(), columns).hasLike(LegacyNames.INBOX.of(inboxColumn));
    }

    private Phase phase() {
        if (marker.isEmpty() && has.test(LegacyNames.LEGACY_WRITE)) {
            throw new OutboxException("table \"" + name + "\" is between two phases of its migration, but its comment"
                    + " does not say which; restore the line \"" + PhaseMarker.line(kind(), "N") + "\" in it");
        }
        return marker.map(PhaseMarker::phase).orElseGet(() -> isCanonical() ? Phase.CLEAN : Phase.LEGACY);
    }

    private boolean isCanonical() {
        return has.test("work_item_id") && has.test("sequence") && has.test("blocks_key");
    }
}
