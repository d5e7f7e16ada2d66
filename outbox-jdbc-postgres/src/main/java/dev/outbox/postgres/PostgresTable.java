package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Capabilities;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.ItemColumns;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.sql.Hash;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
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
record PostgresTable(
        TableName name, TableKind kind, Layout layout, Layout own, Phase phase, Map<String, Integer> limits)
        implements LiveTable.Seen {
    /** What an inbox table has besides. */
    private static final List<String> INBOX_COLUMNS =
            List.of("consumer", "source", "hash", "receipt_count", "first_seen_on", "last_seen_on");

    /** An outbox table: every row is ours. */
    static PostgresTable outbox(Connection connection, TableName name) throws SQLException {
        return of(find(connection, name), TableKind.OUTBOX, ItemColumns.ALL, Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static PostgresTable inbox(Connection connection, TableName name, String consumer) throws SQLException {
        FoundTable found = find(connection, name);
        List<String> columns = new ArrayList<>(ItemColumns.ALL);
        columns.addAll(INBOX_COLUMNS);
        PostgresTable table = of(found, TableKind.INBOX, columns, Map.of("consumer", consumer));
        String owner = found.consumer().orElse(consumer);
        if (found.phase().before(Phase.FLIPPED) && !owner.equals(consumer)) {
            throw new OutboxException(
                    "table \"" + found.name() + "\" is in " + found.phase() + " and belongs to consumer "
                            + owner + ", was opened for " + consumer + "; several consumers need " + Phase.FLIPPED
                            + ": apply the migrations up to that phase first");
        }
        return table;
    }

    private static FoundTable find(Connection connection, TableName name) throws SQLException {
        return Catalog.of(Database.POSTGRES)
                .glance(connection, name)
                .orElseThrow(() -> new OutboxException(
                        "table \"" + name + "\" not found; apply outbox-migrations (postgres) or set table(...)"));
    }

    private static PostgresTable of(
            FoundTable found, TableKind kind, List<String> logical, Map<String, Object> constants) {
        PostgresColumns columns = new PostgresColumns(found, kind);
        if (found.marked() || found.phase() == Phase.CLEAN) {
            found.requireKind(
                    kind,
                    "open it with " + (kind == TableKind.OUTBOX ? "PostgresInbox" : "PostgresOutbox")
                            + ", or set table(...)");
        }
        if (found.phase() != Phase.LEGACY || !columns.missing().isEmpty()) {
            need(found, kind, logical);
        }
        Layout layout = columns.layout(Quoted.postgres(found.name()), logical, constants);
        return new PostgresTable(
                found.name(), kind, layout, columns.own(layout, logical), found.phase(), columns.limits());
    }

    private static void need(FoundTable found, TableKind kind, List<String> needed) {
        List<String> missing = needed.stream()
                .filter(column -> !found.has(column))
                .filter(column -> found.phase() == Phase.CLEAN || !found.has(LegacyNames.interim(column)))
                .toList();
        if (!missing.isEmpty()) {
            throw new OutboxException("table \"" + found.name() + "\" is not an " + kind + " table: it has no column "
                    + String.join(", ", missing) + "; apply outbox-migrations (postgres) or set table(...)");
        }
    }

    boolean isInbox() {
        return kind == TableKind.INBOX;
    }

    /** Refuses a message that asks for what the table cannot hold yet. */
    void check(Message message) {
        if (phase == Phase.CLEAN) {
            return;
        }
        capabilities().check(message, name, phase);
        if (!isInbox()) {
            checkLength("message_id", message.id());
        }
        checkLength("topic", message.topic());
        checkLength("correlation_id", message.correlationId());
    }

    Capabilities capabilities() {
        return Capabilities.of(Database.POSTGRES, kind);
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
}
