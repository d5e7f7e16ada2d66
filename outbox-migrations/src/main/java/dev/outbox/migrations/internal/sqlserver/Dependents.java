package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.internal.sqlserver.LegacyTable.Renamed;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What else in the database depends on a table: it would break, or keep a phase from its work. */
final class Dependents {
    /** Views, procedures, functions and triggers, which only their texts tell of. */
    static final String READERS = """
            SELECT s.name AS schema_name, o.name AS object_name, o.type AS object_type, m.is_schema_bound, m.definition
            FROM sys.sql_modules m
            JOIN sys.objects o ON o.object_id = m.object_id
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            """;

    static final String REFERENCED = """
            SELECT r.referenced_minor_name FROM sys.dm_sql_referenced_entities(?, N'OBJECT') r
            WHERE r.referenced_id = OBJECT_ID(?) AND r.referenced_minor_id > 0
            """;

    static final String FOREIGN_KEYS = """
            SELECT f.name, s.name AS schema_name, o.name AS object_name
            FROM sys.foreign_keys f
            JOIN sys.objects o ON o.object_id = f.parent_object_id
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            WHERE f.referenced_object_id = OBJECT_ID(?)
            """;

    /** Without the computed columns of the canonical table, and the one that exists until the flip. */
    static final String COMPUTED = """
            SELECT c.name, c.definition FROM sys.computed_columns c
            WHERE c.object_id = OBJECT_ID(?) AND c.name NOT IN (N'ExactKey', N'ExactSource', N'ExactMessageId', N'Differs')
            """;

    static final String FOLLOWED = """
            SELECT CASE WHEN t.is_tracked_by_cdc = 1 THEN 1 ELSE 0 END AS captured,
                CASE WHEN t.is_replicated = 1 OR t.is_published = 1 OR t.is_merge_published = 1 THEN 1 ELSE 0 END AS replicated
            FROM sys.tables t WHERE t.object_id = OBJECT_ID(?)
            """;

    static final String TRACKED = """
            SELECT c.object_id FROM sys.change_tracking_tables c WHERE c.object_id = OBJECT_ID(?)
            """;

    private final Connection connection;
    private final LegacyTable table;
    private final List<String> renamed;
    private final List<Finding> findings = new ArrayList<>();

    Dependents(Connection connection, LegacyTable table) {
        this.connection = connection;
        this.table = table;
        this.renamed = table.renamed().stream().map(Renamed::old).toList();
    }

    List<Finding> findings() throws SQLException {
        readers();
        checks();
        computed();
        foreignKeys();
        followers();
        return findings;
    }

    private boolean flips() {
        return table.phase().before(Phase.FLIPPED);
    }

    private void readers() throws SQLException {
        List<String> old = new ArrayList<>(renamed);
        table.processed().map(Column::name).ifPresent(old::add);
        if (table.inbox() && table.interim("status").isPresent()) { // which changes what it says
            table.stored("status").map(Column::name).ifPresent(old::add);
        }
        List<String> changed = new ArrayList<>(old);
        changed.addAll(madeNullable());
        changed.addAll(replaced());
        try (PreparedStatement statement = connection.prepareStatement(READERS);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String text = row.getString("definition");
                if (text == null || !TableSql.names(text, table.name().name())) {
                    continue;
                }
                String schema = row.getString("schema_name");
                String name = row.getString("object_name");
                String reader = schema + "." + name;
                boolean writes = Set.of("P", "TR")
                        .contains(String.valueOf(row.getString("object_type")).strip());
                if (row.getBoolean("is_schema_bound") && !named(text, changed).isEmpty()) {
                    add(
                            reader + " is bound to the schema and names the table and " + join(named(text, changed))
                                    + ", so that the column cannot be changed; drop it first, and create it again after "
                                    + (flips() ? Phase.FLIPPED : Phase.CLEAN),
                            Phase.FLIPPED,
                            Phase.CLEAN);
                    continue;
                }
                List<String> meant = meant(Quoted.sqlServer(schema) + "." + Quoted.sqlServer(name), named(text, old));
                List<String> unwritable =
                        meant.stream().filter(renamed::contains).toList();
                if (writes && !unwritable.isEmpty()) {
                    add(
                            "procedure or trigger " + reader + " names the table and " + join(unwritable)
                                    + ", which cannot be written from " + Phase.FLIPPED
                                    + " on; let it use the new names, or drop it first",
                            Phase.FLIPPED,
                            Phase.CLEAN);
                } else if (!meant.isEmpty()) {
                    add(
                            "view or procedure " + reader + " names the table and " + join(meant)
                                    + "; change or drop it first",
                            Phase.CLEAN);
                }
            }
        }
    }

    /** Which columns of the table a module uses, if the server can tell: other tables have an Id too. */
    private List<String> meant(String module, List<String> named) {
        if (named.isEmpty()) {
            return named;
        }
        List<String> told = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(REFERENCED)) {
            statement.setNString(1, module);
            statement.setNString(2, table.quoted());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    told.add(row.getString("referenced_minor_name"));
                }
            }
        } catch (SQLException e) { // it names something that is not there (2020), or the server does not know this
            return named;
        }
        return told.isEmpty()
                ? named
                : named.stream()
                        .filter(column -> told.stream().anyMatch(column::equalsIgnoreCase))
                        .toList();
    }

    /** The column that the flip makes nullable; nothing may depend on it then. */
    private List<String> madeNullable() {
        return table.stored("payload")
                .filter(payload -> flips() && !payload.nullable())
                .map(payload -> List.of(payload.name()))
                .orElse(List.of());
    }

    /** Check constraints on columns that change their type are dropped on the way. */
    private void checks() {
        table.checks().forEach((name, condition) -> hold("check constraint " + name, condition, dropped()));
    }

    /** Those of the application; a column that one is computed from can neither be changed nor renamed nor dropped. */
    private void computed() throws SQLException {
        List<String> dropped = dropped();
        dropped.addAll(replaced());
        try (PreparedStatement statement = ofTable(COMPUTED);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String name = row.getString("name");
                boolean alias = table.renamed().stream()
                        .anyMatch(both -> name.equalsIgnoreCase(both.now()) || name.equalsIgnoreCase(both.old()));
                if (!alias) {
                    hold("computed column " + name, String.valueOf(row.getString("definition")), dropped);
                }
            }
        }
    }

    private List<String> dropped() {
        List<String> dropped = new ArrayList<>(flips() ? List.of() : renamed);
        table.processed().map(Column::name).ifPresent(dropped::add);
        return dropped;
    }

    /** Old columns that others of another type take the place of. */
    private List<String> replaced() {
        return table.interims().stream()
                .flatMap(logical -> table.stored(logical).stream())
                .map(Column::name)
                .toList();
    }

    private void hold(String what, String text, List<String> dropped) {
        List<String> flipped = new ArrayList<>(flips() ? renamed : List.of());
        flipped.addAll(madeNullable());
        hold(what, named(text, flipped), Phase.FLIPPED);
        hold(what, named(text, dropped), Phase.CLEAN);
    }

    private void hold(String what, List<String> columns, Phase blocked) {
        if (!columns.isEmpty()) {
            add(
                    what + " names " + join(columns) + ", so that " + blocked
                            + " cannot change the column; drop it first, and create it again after, for the new columns",
                    blocked);
        }
    }

    private void foreignKeys() throws SQLException {
        try (PreparedStatement statement = ofTable(FOREIGN_KEYS);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                add(
                        "foreign key " + row.getString("name") + " of " + row.getString("schema_name") + "."
                                + row.getString("object_name")
                                + " refers to the table, whose key phase 4 replaces; drop it"
                                + " first"
                                + (table.inbox() ? "" : ", and create it again after, for WorkItemId"),
                        Phase.CLEAN);
            }
        }
    }

    private void followers() throws SQLException {
        try (PreparedStatement statement = ofTable(FOLLOWED);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String by = row.getInt("captured") == 1
                        ? "change data capture"
                        : row.getInt("replicated") == 1 ? "replication" : null;
                if (by != null) {
                    add(
                            by + " follows the table, and its columns cannot be renamed meanwhile; turn it off before "
                                    + Phase.FLIPPED + ", and on again after " + Phase.CLEAN,
                            Phase.FLIPPED,
                            Phase.CLEAN);
                }
            }
        }
        try (PreparedStatement statement = ofTable(TRACKED);
                ResultSet row = statement.executeQuery()) {
            if (row.next()) {
                String text = "change tracking follows the table, and its key cannot be replaced meanwhile"
                        + (table.online() ? ", nor a column be altered online" : "") + "; turn it off first";
                if (table.online()) {
                    add(text, Phase.DUAL, Phase.CLEAN);
                } else {
                    add(text, Phase.CLEAN);
                }
            }
        }
    }

    private PreparedStatement ofTable(String query) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(query);
        statement.setNString(1, table.quoted());
        return statement;
    }

    private static List<String> named(String text, List<String> columns) {
        return columns.stream()
                .filter(column -> TableSql.names(text, column))
                .distinct()
                .toList();
    }

    private static String join(List<String> columns) {
        return String.join(", ", columns);
    }

    private void add(String text, Phase... blocks) {
        findings.add(new Finding(Concern.OLD_READER, text, 0, false, Set.of(blocks)));
    }
}
