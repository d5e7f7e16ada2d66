package dev.outbox.jdbc.internal.catalog;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An outbox or inbox table as the catalog describes it. Whoever asks what a table is, the runtime, the operators' tools or the
 * migrations, asks here.
 *
 * @param name with its schema
 * @param kind as its marker says, or else its columns
 * @param phase as its marker says; a table without a marker is canonical if it has the canonical columns that identify and
 *     number its rows, and legacy otherwise
 * @param marked whether it has a marker
 * @param since when it came to its phase, if its marker says so
 * @param consumer whose rows they are, as long as an inbox can have only one consumer
 * @param columns by their names, in the order of the table
 * @param indexes by their names; none if the catalog was only glanced at on PostgreSQL
 */
public record FoundTable(
        TableName name,
        TableKind kind,
        Phase phase,
        boolean marked,
        Optional<Instant> since,
        Optional<String> consumer,
        Map<String, Column> columns,
        Map<String, Index> indexes) {
    public FoundTable {
        columns = Collections.unmodifiableMap(new LinkedHashMap<>(columns));
        indexes = Collections.unmodifiableMap(new LinkedHashMap<>(indexes));
    }

    /** Whether there is a column of exactly this name. */
    public boolean has(String column) {
        return columns.containsKey(column);
    }

    /** The same table taken as this kind, for one without a marker, whose columns may not show its kind. */
    public FoundTable as(TableKind known) {
        return new FoundTable(name, known, phase, marked, since, consumer, columns, indexes);
    }

    /**
     * Refuses a table of the other kind.
     *
     * @param instead what to do, as in {@code open it with PostgresInbox}
     */
    public void requireKind(TableKind wanted, String instead) {
        if (kind != wanted) {
            throw new OutboxException("table \"" + name + "\" is an " + kind + " table; " + instead);
        }
    }
}
