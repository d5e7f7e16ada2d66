package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Capability;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.OrdinaryTable;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.ItemColumns;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.sql.Hash;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param layout for statements in a caller's transaction, which must not fail when a migration goes on
 * @param own for statements in transactions of our own, which are repeated then
 * @param phase how far it has come from the old columns to the new ones
 * @param limits how many characters of a logical column it can hold, where that is less than a message may have
 */
record PostgresTable(TableName name, Layout layout, Layout own, Phase phase, Map<String, Integer> limits)
        implements LiveTable.Seen {
    private static final String OWNER = "dev.outbox consumer ";

    private static final String FIND = """
            SELECT n.nspname, c.relkind, EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid),
                obj_description(c.oid, 'pg_class'), a.attname,
                format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.oid = to_regclass(?)
            ORDER BY a.attnum
            """;

    /** What tells an inbox table from an outbox. */
    private static final List<String> INBOX_COLUMNS =
            List.of("consumer", "source", "hash", "receipt_count", "first_seen_on", "last_seen_on");

    /** An outbox table: every row is ours. */
    static PostgresTable detect(Connection connection, TableName name) throws SQLException {
        Found found = find(connection, name);
        Phase phase = found.phase(false);
        if (phase != Phase.LEGACY) {
            found.need("an outbox", ItemColumns.ALL, phase);
        }
        if (found.types.keySet().containsAll(INBOX_COLUMNS) || (phase == Phase.CLEAN && found.isLegacy(true))) {
            throw new OutboxException("table \"" + found.name + "\" is an inbox table; open it with PostgresInbox, or"
                    + " set table(...)");
        }
        return found.table(phase, false, ItemColumns.ALL, Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static PostgresTable detectInbox(Connection connection, TableName name, String consumer) throws SQLException {
        Found found = find(connection, name);
        Phase phase = found.phase(true);
        List<String> columns = new ArrayList<>(ItemColumns.ALL);
        columns.addAll(INBOX_COLUMNS);
        if (phase != Phase.LEGACY) {
            found.need("an inbox", columns, phase);
        }
        found.checkConsumer(consumer, phase);
        return found.table(phase, true, columns, Map.of("consumer", consumer));
    }

    /**
     * @param types of the columns, by name, in the order of the table
     * @param owner the consumer that all rows belong to before phase 3; null if that is not told
     */
    private record Found(
            TableName name,
            @Nullable String comment,
            Map<String, String> types,
            @Nullable String owner) {
        /** By its marker; where there is none, a table is as it was before any migration, or as it is after all. */
        Phase phase(boolean inbox) {
            Optional<Phase> marked = PhaseMarker.read(comment).map(PhaseMarker::phase);
            if (marked.isEmpty() && types.containsKey(LegacyNames.LEGACY_WRITE)) {
                throw new OutboxException(
                        "table \"" + name + "\" is between two phases of its migration, but its comment"
                                + " does not tell which; restore the line \"dev.outbox " + (inbox ? "inbox " : "")
                                + "phase N\" in it");
            }
            return marked.orElseGet(() -> isLegacy(inbox) ? Phase.LEGACY : Phase.CLEAN);
        }

        boolean isLegacy(boolean inbox) {
            return !types.containsKey("work_item_id")
                    && columns(Phase.LEGACY, inbox).missing().isEmpty();
        }

        void need(String what, List<String> needed, Phase phase) {
            List<String> missing = needed.stream()
                    .filter(column -> !types.containsKey(column))
                    .filter(column -> phase == Phase.CLEAN || !types.containsKey(LegacyNames.interim(column)))
                    .toList();
            if (!missing.isEmpty()) {
                throw new OutboxException("table \"" + name + "\" is not " + what + " table: it has no column "
                        + String.join(", ", missing) + "; apply outbox-migrations (postgres) or set table(...)");
            }
        }

        void checkConsumer(String consumer, Phase phase) {
            if (phase.before(Phase.FLIPPED) && owner != null && !owner.equals(consumer)) {
                throw new OutboxException("table \"" + name + "\" is in " + phase + " and belongs to consumer " + owner
                        + ", was opened for " + consumer + "; several consumers need " + Phase.FLIPPED
                        + ": apply the migrations up to that phase first");
            }
        }

        PostgresTable table(Phase phase, boolean inbox, List<String> logical, Map<String, Object> constants) {
            PostgresColumns columns = columns(phase, inbox);
            Layout layout = columns.layout(quote(name), logical, constants);
            return new PostgresTable(name, layout, columns.own(layout, logical), phase, columns.limits());
        }

        private PostgresColumns columns(Phase phase, boolean inbox) {
            return new PostgresColumns(name.toString(), phase == Phase.LEGACY ? old() : types, phase, inbox);
        }

        /** Without the columns of a migration that is being taken back: they are about to go. */
        private Map<String, String> old() {
            Map<String, String> old = new LinkedHashMap<>(types);
            if (types.containsKey(LegacyNames.LEGACY_WRITE)) {
                List<String> names = List.copyOf(types.keySet());
                old.keySet().removeAll(names.subList(names.indexOf(LegacyNames.LEGACY_WRITE), names.size()));
            }
            return old;
        }
    }

    private static Found find(Connection connection, TableName name) throws SQLException {
        Map<String, String> types = new LinkedHashMap<>();
        TableName found = name;
        String comment = null;
        String owner = null;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString(1));
                    OrdinaryTable.check(found, row.getString(2), row.getBoolean(3));
                    comment = row.getString(4);
                    String column = row.getString(5);
                    types.put(column, row.getString(6));
                    if (column.equals("consumer")) {
                        owner = owner(row.getString(7));
                    }
                }
            }
        }
        if (types.isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" not found; apply outbox-migrations (postgres) or set table(...)");
        }
        return new Found(found, comment, types, owner);
    }

    /** The migrations note whose the rows are in the comment of the column. */
    private static @Nullable String owner(@Nullable String comment) {
        return comment != null && comment.startsWith(OWNER) ? comment.substring(OWNER.length()) : null;
    }

    boolean isInbox() {
        return layout.constants().containsKey("consumer");
    }

    /** Refuses a message that asks for what the table cannot hold yet. */
    void check(Message message) {
        if (phase == Phase.CLEAN) {
            return;
        }
        if (isInbox()) {
            Capability.checkInbox(message, name, phase);
        } else {
            Capability.checkOutbox(message, name, phase);
            checkLength("message_id", message.id());
        }
        checkLength("topic", message.topic());
        checkLength("correlation_id", message.correlationId());
    }

    void checkLength(String logical, @Nullable String value) {
        Integer limit = limits.get(logical);
        if (value != null && limit != null && value.codePointCount(0, value.length()) > limit) {
            throw new OutboxException(logical + " has " + value.codePointCount(0, value.length())
                    + " characters, but in " + phase + " of the schema table \"" + name + "\" holds at most " + limit
                    + "; shorten it, or apply the migrations up to " + Phase.CLEAN + " first");
        }
    }

    /** Where NOTIFY about this table goes, the same on every node, whenever the table was made. */
    String channel() {
        return "outbox_" + HexFormat.of().toHexDigits(Hash.of(name.toString()));
    }

    static String quote(TableName name) {
        String table = "\"" + name.name() + "\"";
        return name.schema() == null ? table : "\"" + name.schema() + "\"." + table;
    }
}
