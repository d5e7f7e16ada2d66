package dev.outbox.jdbc.internal.catalog;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The catalog of SQL Server. The migrations note a table's phase and its consumer in extended properties. */
public final class SqlServerCatalog implements Catalog {
    /** The property that says whose the rows of an inbox are. */
    public static final String CONSUMER = "dev.outbox.consumer";

    public static final String COLUMNS = """
            SELECT s.name AS schema_name, c.name AS column_name, t.name AS type_name, c.max_length, c.scale, c.collation_name,
                c.is_nullable, c.is_computed, c.is_identity, d.name AS default_name, d.definition AS default_text,
                CASE WHEN c.default_object_id = 0 THEN 0 ELSE 1 END AS has_default
            FROM sys.objects o
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            JOIN sys.columns c ON c.object_id = o.object_id
            JOIN sys.types t ON t.user_type_id = CASE WHEN c.system_type_id = 240 THEN c.user_type_id ELSE c.system_type_id END
            LEFT JOIN sys.default_constraints d ON d.object_id = c.default_object_id
            WHERE o.object_id = OBJECT_ID(?) AND o.type = 'U'
            ORDER BY c.column_id
            """;

    public static final String INDEXES = """
            SELECT i.name AS index_name, i.is_primary_key, i.is_unique_constraint, i.is_unique, i.type, i.is_disabled,
                i.has_filter, i.filter_definition, c.name AS column_name, k.key_ordinal, k.is_descending_key
            FROM sys.indexes i
            JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
            JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
            WHERE i.object_id = OBJECT_ID(?) AND i.name IS NOT NULL
            ORDER BY i.index_id, k.key_ordinal
            """;

    public static final String NOTES = """
            SELECT p.name, CAST(p.value AS nvarchar(255)) AS note FROM sys.extended_properties p
            WHERE p.class = 1 AND p.major_id = OBJECT_ID(?) AND p.minor_id = 0
              AND p.name IN (N'dev.outbox', N'dev.outbox.consumer')
            """;

    public static final String EXISTS = "SELECT CASE WHEN OBJECT_ID(?) IS NULL THEN 0 ELSE 1 END AS found";

    public static final String HAS_COLUMN = """
            SELECT COUNT(*) AS found FROM sys.columns c
            WHERE c.object_id = OBJECT_ID(?) AND LOWER(REPLACE(c.name, N'_', N'')) = LOWER(REPLACE(?, N'_', N''))
            """;

    private static final int CLUSTERED = 1;

    @Override
    public Optional<FoundTable> find(Connection connection, TableName name) throws SQLException {
        String quoted = Quoted.sqlServer(name);
        TableName found = name;
        // Before the columns: should a step come in between, those of the next phase serve the phase before.
        Map<String, String> notes = notes(connection, quoted);
        Map<String, Index> indexes = indexes(connection, quoted);
        Map<String, Column> columns = new LinkedHashMap<>();
        try (PreparedStatement find = connection.prepareStatement(COLUMNS)) {
            find.setNString(1, quoted);
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("schema_name"));
                    Column column = column(row, indexes);
                    columns.put(column.name(), column);
                }
            }
        }
        if (columns.isEmpty()) {
            return Optional.empty();
        }
        // A computed column may be the alias of another one in another spelling.
        ColumnNames stored = new ColumnNames(
                found.toString(),
                columns.values().stream()
                        .filter(column -> !column.computed())
                        .map(Column::name)
                        .toList());
        return Optional.of(new Recognition(
                        found,
                        columns.keySet(),
                        logical -> stored.hasLike(List.of(logical)),
                        PhaseMarker.read(PhaseMarker.NAME + " " + notes.get(PhaseMarker.NAME)))
                .table(Optional.ofNullable(notes.get(CONSUMER)), columns, indexes));
    }

    @Override
    public Optional<FoundTable> glance(Connection connection, TableName name) throws SQLException {
        return find(connection, name);
    }

    private static Column column(ResultSet row, Map<String, Index> indexes) throws SQLException {
        String name = row.getString("column_name");
        String type = row.getString("type_name");
        int bytes = row.getInt("max_length");
        boolean nullable = row.getBoolean("is_nullable");
        boolean computed = row.getBoolean("is_computed");
        boolean hasDefault = row.getInt("has_default") == 1;
        return new Column(
                name,
                type,
                definition(type, bytes, row.getInt("scale")),
                characters(type, bytes),
                row.getString("collation_name"),
                nullable,
                indexes.values().stream()
                        .anyMatch(index -> index.primaryKey() && index.keys().contains(name)),
                computed,
                hasDefault,
                nullable || hasDefault || computed || row.getBoolean("is_identity") || type.equals("timestamp"),
                row.getString("default_name"),
                row.getString("default_text"));
    }

    private static String definition(String type, int bytes, int scale) {
        return switch (type) {
            case "nvarchar", "nchar", "varchar", "char", "varbinary", "binary" ->
                type + "(" + (bytes < 0 ? "max" : String.valueOf(characters(type, bytes))) + ")";
            case "datetime2", "datetimeoffset" -> type + "(" + scale + ")";
            default -> type;
        };
    }

    private static int characters(String type, int bytes) {
        return switch (type) {
            case "nvarchar", "nchar" -> bytes < 0 ? Column.UNLIMITED : bytes / 2;
            case "varchar", "char", "varbinary", "binary" -> bytes < 0 ? Column.UNLIMITED : bytes;
            default -> Column.UNLIMITED;
        };
    }

    private static Map<String, Index> indexes(Connection connection, String quoted) throws SQLException {
        Map<String, Index> indexes = new LinkedHashMap<>();
        try (PreparedStatement find = connection.prepareStatement(INDEXES)) {
            find.setNString(1, quoted);
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    String name = row.getString("index_name");
                    if (!indexes.containsKey(name)) {
                        indexes.put(name, index(row, name));
                    }
                    Index index = indexes.get(name);
                    String column = row.getString("column_name");
                    index.columns().add(column);
                    if (row.getInt("key_ordinal") > 0) {
                        index.keys().add(column + (row.getBoolean("is_descending_key") ? " DESC" : ""));
                    }
                }
            }
        }
        return indexes;
    }

    /** Its columns are added row by row. */
    private static Index index(ResultSet row, String name) throws SQLException {
        String filter = row.getString("filter_definition");
        return new Index(
                name,
                row.getBoolean("is_primary_key"),
                row.getBoolean("is_primary_key") || row.getBoolean("is_unique_constraint"),
                row.getBoolean("is_unique"),
                row.getInt("type") == CLUSTERED,
                !row.getBoolean("is_disabled"),
                row.getBoolean("has_filter"),
                filter == null ? "" : filter,
                new ArrayList<>(),
                new ArrayList<>());
    }

    private static Map<String, String> notes(Connection connection, String quoted) throws SQLException {
        Map<String, String> notes = new HashMap<>();
        try (PreparedStatement find = connection.prepareStatement(NOTES)) {
            find.setNString(1, quoted);
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    notes.put(row.getString("name"), row.getString("note"));
                }
            }
        }
        return notes;
    }

    @Override
    public boolean exists(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setNString(1, Quoted.sqlServer(name));
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getInt("found") == 1;
            }
        }
    }

    @Override
    public boolean hasColumn(Connection connection, TableName name, String column) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(HAS_COLUMN)) {
            exists.setNString(1, Quoted.sqlServer(name));
            exists.setNString(2, column);
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getInt("found") > 0;
            }
        }
    }
}
