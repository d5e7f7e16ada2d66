package dev.outbox.admin.internal;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.ItemColumns;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An outbox or inbox table as operators need it.
 *
 * @param name with its schema
 * @param layout its columns; only to be used if it is {@link #ready}
 * @param audited whether the audit table is beside it
 * @param listed whether the table of the pollers is beside it, with all its columns
 * @param resolved statements as they read for it; grows, because resolving one anew takes longer than a small answer does
 * @param indexed when the index of a searched column was last seen; grows
 */
public record AdminTable(
        TableKind kind,
        TableName name,
        Phase phase,
        Layout layout,
        boolean audited,
        boolean listed,
        Map<String, Sql> resolved,
        Map<String, Long> indexed) {
    public static final String AUDIT = "outbox_audit";
    public static final String POLLERS = "outbox_pollers";

    private static final List<String> INBOX_COLUMNS = List.of("consumer", "source", "first_seen_on");

    /**
     * The table of this name, if there is one.
     *
     * @throws OutboxException if it is of the other kind, or lacks a column
     */
    public static Optional<AdminTable> find(Connection connection, AdminDialect dialect, TableName name, TableKind kind)
            throws SQLException {
        Catalog catalog = Catalog.of(dialect.database());
        Optional<FoundTable> found = catalog.glance(connection, name);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        FoundTable table = found.get();
        table.requireKind(kind, "name it with " + table.kind() + "(...)");
        TableName audit = new TableName(table.name().schema(), AUDIT);
        TableName pollers = new TableName(table.name().schema(), POLLERS);
        Map<String, String> physical = new HashMap<>();
        physical.put("audit", Quoted.table(dialect.database(), audit));
        physical.put("pollers", Quoted.table(dialect.database(), pollers));
        if (!table.phase().before(Phase.FLIPPED)) {
            columns(dialect, kind).forEach(column -> physical.put(column, physical(dialect, table, column)));
            physical.putAll(dialect.expressions(table, physical));
        }
        return Optional.of(new AdminTable(
                kind,
                table.name(),
                table.phase(),
                Layout.of(Quoted.table(dialect.database(), table.name()), physical),
                catalog.exists(connection, audit),
                catalog.hasColumn(connection, pollers, "last_error"),
                new ConcurrentHashMap<>(),
                new ConcurrentHashMap<>()));
    }

    private static List<String> columns(AdminDialect dialect, TableKind kind) {
        List<String> columns = new ArrayList<>(ItemColumns.ALL);
        columns.addAll(dialect.moreColumns());
        if (kind == TableKind.INBOX) {
            columns.addAll(INBOX_COLUMNS);
        }
        return columns;
    }

    /** The column of the table that stands for a logical one, not quoted. */
    public static Optional<String> column(AdminDialect dialect, FoundTable table, String logical) {
        Optional<String> own = dialect.spelling(table, logical);
        Optional<String> interim = dialect.spelling(table, LegacyNames.interim(logical));
        // Until the columns are renamed, an old column of another type may have the canonical name.
        return table.phase().before(Phase.RENAMING) ? interim.or(() -> own) : own.or(() -> interim);
    }

    private static String physical(AdminDialect dialect, FoundTable table, String column) {
        return column(dialect, table, column)
                .map(name -> Quoted.name(dialect.database(), name))
                .orElseThrow(() -> new OutboxException("table \"" + table.name() + "\" is not an " + table.kind()
                        + " table: it has no column " + column + "; apply outbox-migrations ("
                        + dialect.database().name().toLowerCase(Locale.ROOT) + ") or name another table"));
    }

    /** @param statement with logical names */
    public Sql sql(String statement) {
        return resolved.computeIfAbsent(statement, layout::resolve);
    }

    /** @param by the logical column that {@code {by}} stands for */
    public Sql sql(String statement, String by) {
        return resolved.computeIfAbsent(
                by + " " + statement,
                key -> layout.with("by", Reading.column(layout.column(by))).resolve(statement));
    }

    /** The quoted name of the table. */
    public String quoted() {
        return layout.table();
    }

    /** Whether it will stay as it is, so that it need not be looked at again. */
    public boolean isFinal() {
        return phase == Phase.CLEAN && audited && listed;
    }

    /** This table, if its columns are the new ones. */
    public AdminTable ready() {
        if (phase.before(Phase.FLIPPED)) {
            throw new OutboxException("table \"" + name + "\" is in " + phase + " of its migration, and this needs "
                    + Phase.FLIPPED + " or later; apply the migrations up to that phase first");
        }
        return this;
    }

    /** This table, if actions on it can be recorded. */
    public AdminTable auditable() {
        if (!audited) {
            throw new OutboxException("table \"" + new TableName(name.schema(), AUDIT)
                    + "\" not found; every action is recorded in it, so nothing was changed; create it with"
                    + " OutboxMigrations.installAdmin(...)");
        }
        return ready();
    }
}
