package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An outbox or inbox table of SQL Server on its way, as it was found in the catalog.
 *
 * <p>A column that only changes its name is stored once, and its other name is a computed alias: in phases 1 and 2 the new
 * one, in phase 3 the old one. A column that changes its type has an interim one beside it from phase 1 to 3.
 *
 * @param name with its schema
 * @param marker where it is; empty before phase 1
 * @param columns as found, by name
 * @param indexes by name
 * @param checks the conditions of its check constraints, by their names
 * @param consumer whose the rows of a legacy inbox are; null for an outbox
 * @param online whether the edition builds indexes while others work
 */
record SqlServerLegacyTable(
        TableName name,
        Kind kind,
        Optional<PhaseMarker> marker,
        Map<String, Column> columns,
        Map<String, Index> indexes,
        Map<String, String> checks,
        @Nullable String consumer,
        boolean online) {
    /** Tells by an index which rows of an inbox say one thing in old columns and another in new ones, until the flip. */
    static final String DIFFERS = "Differs";

    /** Where the consumer is noted until the table can have several. */
    static final String CONSUMER = "dev.outbox.consumer";

    /** What changes its type in an inbox. */
    private static final List<String> CHANGED = List.of("status", "message_id", "source");

    /**
     * @param definition its type as it is written, nvarchar(255) for instance
     * @param fallback the name of its default constraint, or null
     */
    record Column(
            String name,
            String type,
            String definition,
            boolean nullable,
            boolean computed,
            @Nullable String fallback,
            @Nullable String collation) {
        boolean isText() {
            return type.equals("nvarchar");
        }

        /** Its type and its collation, which is another than the database's, perhaps. */
        String collated() {
            return collated(definition);
        }

        /** Another type with its collation. */
        String collated(String type) {
            return type + (collation == null ? "" : " COLLATE " + collation);
        }

        /** How many characters it holds, where it has a limit. */
        int limit() {
            return definition.matches(".*\\(\\d+\\)")
                    ? Integer.parseInt(definition.replaceAll("\\D", ""))
                    : Integer.MAX_VALUE;
        }
    }

    /**
     * @param filter its condition, or empty
     * @param columns all that it holds
     */
    record Index(
            String name,
            boolean primaryKey,
            boolean constraint,
            boolean clustered,
            boolean disabled,
            String filter,
            List<String> columns) {}

    /** Two names of one thing. */
    record Renamed(String old, String now) {}

    static final String COLUMNS = """
            SELECT s.name AS schema_name, c.name AS column_name, t.name AS type_name, c.max_length, c.scale,
                c.is_nullable, c.is_computed, c.collation_name, d.name AS default_name
            FROM sys.objects o
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            JOIN sys.columns c ON c.object_id = o.object_id
            JOIN sys.types t ON t.user_type_id = c.user_type_id
            LEFT JOIN sys.default_constraints d ON d.parent_object_id = c.object_id AND d.parent_column_id = c.column_id
            WHERE o.object_id = OBJECT_ID(?) AND o.type = 'U'
            ORDER BY c.column_id
            """;

    static final String INDEXES = """
            SELECT i.name, i.is_primary_key, i.is_unique_constraint, i.type, i.is_disabled, i.filter_definition,
                c.name AS column_name
            FROM sys.indexes i
            JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id
            JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
            WHERE i.object_id = OBJECT_ID(?) AND i.name IS NOT NULL
            ORDER BY i.name
            """;

    static final String MARK = """
            SELECT p.name, CAST(p.value AS nvarchar(255)) AS mark FROM sys.extended_properties p
            WHERE p.class = 1 AND p.major_id = OBJECT_ID(?) AND p.minor_id = 0
              AND p.name IN (N'dev.outbox', N'dev.outbox.consumer')
            """;

    static final String CHECKS = """
            SELECT k.name, k.definition FROM sys.check_constraints k
            WHERE k.parent_object_id = OBJECT_ID(?)
            """;

    /** Enterprise and Developer, Azure SQL Database and Managed Instance. */
    static final String ONLINE = """
            SELECT CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8) THEN 1 ELSE 0 END AS online
            """;

    /** @param consumer whose the rows of a legacy inbox are; null for an outbox */
    static SqlServerLegacyTable read(Connection connection, TableName name, Kind kind, @Nullable String consumer)
            throws SQLException {
        String quoted = quote(name);
        Map<String, Column> columns = new LinkedHashMap<>();
        TableName found = name;
        try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
            statement.setNString(1, quoted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("schema_name"));
                    String type = row.getString("type_name");
                    columns.put(
                            row.getString("column_name"),
                            new Column(
                                    row.getString("column_name"),
                                    type,
                                    definition(type, row.getInt("max_length"), row.getInt("scale")),
                                    row.getBoolean("is_nullable"),
                                    row.getBoolean("is_computed"),
                                    row.getString("default_name"),
                                    row.getString("collation_name")));
                }
            }
        }
        if (columns.isEmpty()) {
            throw new OutboxException("table \"" + name + "\" not found; name it as name or schema.name, or"
                    + " install it with OutboxMigrations.install(...)");
        }
        Map<String, String> marks = texts(connection, MARK, quoted, "mark");
        String owner = marks.getOrDefault(CONSUMER, consumer);
        if (owner != null && !owner.equals(consumer)) {
            throw new OutboxException("table \"" + found + "\" belongs to consumer " + owner + ", not to " + consumer
                    + "; name that one until it is in " + Phase.CLEAN);
        }
        return new SqlServerLegacyTable(
                found,
                kind,
                PhaseMarker.read("dev.outbox " + marks.get("dev.outbox")),
                columns,
                indexes(connection, quoted),
                texts(connection, CHECKS, quoted, "definition"),
                consumer,
                online(connection));
    }

    private static String definition(String type, int length, int scale) {
        return switch (type) {
            case "nvarchar", "nchar" -> type + (length < 0 ? "(max)" : "(" + length / 2 + ")");
            case "varchar", "char", "varbinary", "binary" -> type + (length < 0 ? "(max)" : "(" + length + ")");
            case "datetime2", "datetimeoffset" -> type + "(" + scale + ")";
            default -> type;
        };
    }

    private static Map<String, String> texts(Connection connection, String query, String quoted, String text)
            throws SQLException {
        Map<String, String> texts = new TreeMap<>();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setNString(1, quoted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    texts.put(row.getString("name"), String.valueOf(row.getString(text)));
                }
            }
        }
        return texts;
    }

    private static boolean online(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ONLINE);
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getInt("online") == 1;
        }
    }

    private static Map<String, Index> indexes(Connection connection, String quoted) throws SQLException {
        Map<String, Index> indexes = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        try (PreparedStatement statement = connection.prepareStatement(INDEXES)) {
            statement.setNString(1, quoted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String filter = row.getString("filter_definition");
                    String index = row.getString("name");
                    Index before = indexes.get(index);
                    List<String> held = new ArrayList<>(before == null ? List.of() : before.columns());
                    held.add(row.getString("column_name"));
                    indexes.put(
                            index,
                            new Index(
                                    index,
                                    row.getBoolean("is_primary_key"),
                                    row.getBoolean("is_unique_constraint"),
                                    row.getInt("type") == 1,
                                    row.getBoolean("is_disabled"),
                                    filter == null ? "" : filter,
                                    List.copyOf(held)));
                }
            }
        }
        return indexes;
    }

    Phase phase() {
        return marker.map(PhaseMarker::phase).orElse(Phase.LEGACY);
    }

    boolean inbox() {
        return kind == Kind.INBOX;
    }

    SqlServerCanonical canonical() {
        return SqlServerCanonical.of(kind);
    }

    /** A column by its canonical name, in whatever spelling it is stored, or by an old one. */
    Optional<Column> stored(String logical) {
        return like(false, kind.legacy.of(logical));
    }

    /** The column that is there in the end, under whatever name it has now. */
    Optional<Column> now(String logical) {
        return interim(logical).or(() -> stored(logical));
    }

    /** The column of the final type, where an old one of another type has the name. */
    Optional<Column> interim(String logical) {
        return like(false, List.of(LegacyNames.interim(logical)));
    }

    Optional<Column> processed() {
        return like(false, LegacyNames.IS_PROCESSED);
    }

    Optional<Column> libraryToken() {
        return like(false, List.of(LegacyNames.LIBRARY_TOKEN));
    }

    /** Whether the old column is of another type than the new one, so that both are there from phase 1 to 3. */
    boolean changes(String logical) {
        if (interim(logical).isPresent()) {
            return true;
        }
        return inbox()
                ? CHANGED.contains(logical) && phase().before(Phase.FLIPPED)
                : logical.equals("message_id")
                        && stored(logical).map(column -> !column.isText()).orElse(false);
    }

    /** What has a column of each type now, by its canonical name. */
    List<String> interims() {
        return CHANGED.stream()
                .filter(logical ->
                        interim(logical).isPresent() && stored(logical).isPresent())
                .toList();
    }

    /** What every row has from phase 2 on that no old application writes. */
    List<String> filled() {
        List<String> filled = new ArrayList<>(List.of("sequence", "priority", "blocks_key"));
        if (inbox()) {
            filled.addAll(List.of("work_item_id", "receipt_count", "consumer", "created_on"));
            filled.addAll(CHANGED);
        }
        return filled;
    }

    /** What not every legacy outbox has, and is the application's where it is there. */
    List<String> shared() {
        return inbox() ? List.of() : List.of("processed_by", "correlation_id");
    }

    /** What a new column is called while the old one of another type has its name. */
    static String interimName(SqlServerCanonical.Column column) {
        return column.logical().equals("status") ? "StatusCode" : column.name() + "New";
    }

    private Optional<Column> like(boolean computed, Collection<String> wanted) {
        Map<String, Column> some = columns.values().stream()
                .filter(column -> column.computed() == computed)
                .collect(Collectors.toMap(Column::name, column -> column));
        return new ColumnNames(name.toString(), some.keySet())
                .like(wanted, null)
                .map(some::get);
    }

    /** The columns that have another name in the end than they have, or had. */
    List<Renamed> renamed() {
        List<Renamed> renamed = new ArrayList<>();
        for (SqlServerCanonical.Column column : canonical().columns()) {
            if (changes(column.logical())) {
                continue;
            }
            Optional<Column> old = phase().before(Phase.FLIPPED)
                    ? stored(column.logical())
                    : like(true, kind.legacy.of(column.logical()));
            old.map(Column::name)
                    .filter(name -> !name.equalsIgnoreCase(column.name()))
                    .ifPresent(name -> renamed.add(new Renamed(name, column.name())));
        }
        return renamed;
    }

    /** The aliases that are there now: new names before phase 3, and old ones in it. Other computed columns are not ours. */
    List<String> aliases() {
        return renamed().stream()
                .map(phase().before(Phase.FLIPPED) ? Renamed::now : Renamed::old)
                .filter(this::has)
                .toList();
    }

    boolean has(String column) {
        return columns.keySet().stream().anyMatch(column::equalsIgnoreCase);
    }

    String quoted() {
        return quote(name);
    }

    /** Something of this table in the same schema, quoted. */
    String relation(String suffix) {
        return quote(new TableName(name.schema(), name.name() + suffix));
    }

    /** A constraint or index of this table, quoted. */
    String own(String suffix) {
        return "[" + name.name() + suffix + "]";
    }

    static String quote(TableName name) {
        String table = "[" + name.name() + "]";
        return name.schema() == null ? table : "[" + name.schema() + "]." + table;
    }
}
