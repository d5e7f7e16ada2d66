package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the catalog tells of a table.
 *
 * @param name with its schema
 * @param forced whether literals are made parameters
 */
record SqlServerCatalog(TableName name, List<Column> columns, List<Index> indexes, boolean forced) {
    static final String COLUMNS = """
            SELECT s.name AS schema_name, c.name AS column_name, t.name AS type_name, c.max_length, c.collation_name,
                c.is_nullable, c.is_computed, c.is_identity, d.definition,
                CASE WHEN c.default_object_id = 0 THEN 0 ELSE 1 END AS has_default
            FROM sys.objects o
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            JOIN sys.columns c ON c.object_id = o.object_id
            JOIN sys.types t ON t.user_type_id = c.system_type_id
            LEFT JOIN sys.default_constraints d ON d.object_id = c.default_object_id
            WHERE o.object_id = OBJECT_ID(?) AND o.type = 'U'
            ORDER BY c.column_id
            """;

    static final String INDEXES = """
            SELECT i.name AS index_name, i.is_unique, i.is_disabled, i.has_filter, i.filter_definition,
                c.name AS column_name, k.is_descending_key
            FROM sys.indexes i
            JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
            JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
            WHERE i.object_id = OBJECT_ID(?) AND k.key_ordinal > 0
            ORDER BY i.index_id, k.key_ordinal
            """;

    static final String FORCED = """
            SELECT COUNT(*) AS forced FROM sys.databases d
            WHERE d.database_id = DB_ID() AND d.is_parameterization_forced = 1
            """;

    /**
     * @param length in bytes; -1 for max
     * @param fallback the text of its default; null where that cannot be seen
     * @param filled whether an insert may leave it out
     */
    record Column(
            String name,
            String type,
            int length,
            @Nullable String collation,
            boolean nullable,
            boolean computed,
            boolean hasDefault,
            @Nullable String fallback,
            boolean filled) {
        String quoted() {
            return "[" + name + "]";
        }

        boolean isText() {
            return type.endsWith("char");
        }

        /** How many it can hold; 0 if that is no matter. */
        int characters() {
            return Math.max(0, type.startsWith("n") ? length / 2 : length);
        }

        /** Whether it is numbered by this sequence, as far as that can be seen. */
        boolean draws(String sequence) {
            return hasDefault && (fallback == null || ColumnNames.fold(fallback).contains(ColumnNames.fold(sequence)));
        }

        /** Its type as it is written: nvarchar(255). */
        String size() {
            return type
                    + switch (type) {
                        case "nvarchar", "nchar" -> "(" + (length < 0 ? "max" : String.valueOf(length / 2)) + ")";
                        case "varchar", "char", "varbinary", "binary" ->
                            "(" + (length < 0 ? "max" : String.valueOf(length)) + ")";
                        default -> "";
                    };
        }

        String definition() {
            return size() + (nullable ? " NULL" : " NOT NULL");
        }
    }

    /**
     * @param keys columns in their order, with DESC after those that descend
     * @param filter null if it has none, or none that can be seen
     */
    record Index(
            String name,
            boolean unique,
            boolean disabled,
            boolean filtered,
            List<String> keys,
            @Nullable String filter) {}

    static SqlServerCatalog read(Connection connection, TableName name) throws SQLException {
        TableName found = name;
        List<Column> columns = new ArrayList<>();
        try (PreparedStatement find = connection.prepareStatement(COLUMNS)) {
            find.setNString(1, SqlServerTable.quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("schema_name"));
                    columns.add(column(row));
                }
            }
        }
        return new SqlServerCatalog(found, columns, indexes(connection, found), isForced(connection));
    }

    private static Column column(ResultSet row) throws SQLException {
        boolean nullable = row.getBoolean("is_nullable");
        boolean hasDefault = row.getBoolean("has_default");
        boolean computed = row.getBoolean("is_computed");
        String type = row.getString("type_name");
        return new Column(
                row.getString("column_name"),
                type,
                row.getInt("max_length"),
                row.getString("collation_name"),
                nullable,
                computed,
                hasDefault,
                row.getString("definition"),
                nullable || hasDefault || computed || row.getBoolean("is_identity") || type.equals("timestamp"));
    }

    private static List<Index> indexes(Connection connection, TableName name) throws SQLException {
        Map<String, Index> indexes = new LinkedHashMap<>();
        try (PreparedStatement find = connection.prepareStatement(INDEXES)) {
            find.setNString(1, SqlServerTable.quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    String index = row.getString("index_name");
                    if (!indexes.containsKey(index)) {
                        indexes.put(
                                index,
                                new Index(
                                        index,
                                        row.getBoolean("is_unique"),
                                        row.getBoolean("is_disabled"),
                                        row.getBoolean("has_filter"),
                                        new ArrayList<>(),
                                        row.getString("filter_definition")));
                    }
                    indexes.get(index)
                            .keys()
                            .add(row.getString("column_name") + (row.getBoolean("is_descending_key") ? " DESC" : ""));
                }
            }
        }
        return List.copyOf(indexes.values());
    }

    private static boolean isForced(Connection connection) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FORCED);
                ResultSet row = find.executeQuery()) {
            return row.next() && row.getInt("forced") > 0;
        }
    }
}
