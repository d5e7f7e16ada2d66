package dev.outbox.jdbc.internal.catalog;

import dev.outbox.OutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of PostgreSQL. The migrations note a table's phase in its comment, and its consumer in that of a column.
 */
final class PostgresCatalog implements Catalog {
    private static final String CONSUMER = "dev.outbox consumer ";

    /** A default has no columns, so that {@code pg_get_expr} needs not open, and lock, the table. */
    private static final String TABLE = """
            SELECT n.nspname, c.relkind, EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid) AS has_children,
                obj_description(c.oid, 'pg_class') AS table_comment,
                a.attname, format_type(a.atttypid, NULL) AS type, format_type(a.atttypid, a.atttypmod) AS definition,
                CASE WHEN a.atttypmod > 4 AND a.atttypid IN ('varchar'::regtype, 'bpchar'::regtype)
                    THEN a.atttypmod - 4 END AS characters,
                (SELECT collname FROM pg_catalog.pg_collation WHERE oid = a.attcollation AND collname <> 'default') AS collation,
                NOT a.attnotnull AS nullable, a.atthasdef OR a.attidentity <> '' AS has_default, a.attgenerated <> '' AS computed,
                EXISTS (SELECT FROM pg_catalog.pg_constraint
                    WHERE conrelid = a.attrelid AND contype = 'p' AND a.attnum = ANY (conkey)) AS keyed,
                CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, 0) END AS default_text,
                col_description(c.oid, a.attnum) AS column_comment
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
            WHERE c.oid = to_regclass(?)
            ORDER BY a.attnum
            """;

    private static final String INDEXES = """
            SELECT x.relname, i.indisprimary, i.indisunique, i.indisvalid,
                pg_get_expr(i.indpred, i.indrelid) AS filter,
                EXISTS (SELECT FROM pg_catalog.pg_constraint
                    WHERE conindid = i.indexrelid AND contype IN ('p', 'u')) AS is_constraint,
                ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true)
                        || CASE WHEN i.indoption[k - 1] & 1 = 1 THEN ' DESC' ELSE '' END
                    FROM generate_series(1, i.indnkeyatts) k ORDER BY k) AS keys,
                ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
                    WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) AS columns
            FROM pg_catalog.pg_index i
            JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
            WHERE i.indrelid = to_regclass(?)
            ORDER BY x.relname
            """;

    private static final String EXISTS = "SELECT to_regclass(?) IS NOT NULL";

    private static final String HAS_COLUMN = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_attribute
                WHERE attrelid = to_regclass(?) AND attname = ? AND attnum > 0 AND NOT attisdropped)
            """;

    @Override
    public Optional<FoundTable> find(Connection connection, TableName name) throws SQLException {
        return find(connection, name, PostgresCatalog::indexes);
    }

    @Override
    public Optional<FoundTable> glance(Connection connection, TableName name) throws SQLException {
        return find(connection, name, (unused, none) -> Map.of());
    }

    private interface Indexes {
        Map<String, Index> of(Connection connection, TableName name) throws SQLException;
    }

    private static Optional<FoundTable> find(Connection connection, TableName name, Indexes indexes)
            throws SQLException {
        Map<String, Column> columns = new LinkedHashMap<>();
        TableName found = name;
        String comment = null;
        String consumer = null;
        try (PreparedStatement find = connection.prepareStatement(TABLE)) {
            find.setString(1, Quoted.postgres(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("nspname"));
                    requireOrdinary(found, row.getString("relkind"), row.getBoolean("has_children"));
                    comment = row.getString("table_comment");
                    Column column = column(row);
                    columns.put(column.name(), column);
                    if (column.name().equals("consumer")) {
                        consumer = consumer(row.getString("column_comment"));
                    }
                }
            }
        }
        if (columns.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Recognition(found, columns.keySet(), columns::containsKey, PhaseMarker.read(comment))
                .table(Optional.ofNullable(consumer), columns, indexes.of(connection, found)));
    }

    private static Column column(ResultSet row) throws SQLException {
        int characters = row.getInt("characters");
        boolean unlimited = row.wasNull();
        boolean nullable = row.getBoolean("nullable");
        boolean hasDefault = row.getBoolean("has_default");
        boolean computed = row.getBoolean("computed");
        return new Column(
                row.getString("attname"),
                row.getString("type"),
                row.getString("definition"),
                unlimited ? Column.UNLIMITED : characters,
                row.getString("collation"),
                nullable,
                row.getBoolean("keyed"),
                computed,
                hasDefault,
                nullable || hasDefault,
                null,
                row.getString("default_text"));
    }

    private static @Nullable String consumer(@Nullable String comment) {
        return comment != null && comment.startsWith(CONSUMER) ? comment.substring(CONSUMER.length()) : null;
    }

    private static Map<String, Index> indexes(Connection connection, TableName name) throws SQLException {
        Map<String, Index> indexes = new LinkedHashMap<>();
        try (PreparedStatement find = connection.prepareStatement(INDEXES)) {
            find.setString(1, Quoted.postgres(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    String filter = row.getString("filter");
                    Index index = new Index(
                            row.getString("relname"),
                            row.getBoolean("indisprimary"),
                            row.getBoolean("is_constraint"),
                            row.getBoolean("indisunique"),
                            false,
                            row.getBoolean("indisvalid"),
                            filter != null,
                            filter == null ? "" : filter,
                            texts(row, "keys"),
                            texts(row, "columns"));
                    indexes.put(index.name(), index);
                }
            }
        }
        return indexes;
    }

    private static List<String> texts(ResultSet row, String column) throws SQLException {
        return List.of((String[]) row.getArray(column).getArray());
    }

    /**
     * Rows are claimed and purged by their place, the {@code ctid}. It is unique in an ordinary table only: each partition
     * or child of a table has a row of the same place.
     */
    private static void requireOrdinary(TableName name, String relkind, boolean hasChildren) {
        String is = switch (relkind) {
            case "r" -> hasChildren ? "has tables that inherit from it" : "";
            case "p" -> "is partitioned";
            case "v" -> "is a view";
            case "m" -> "is a materialized view";
            case "f" -> "is a foreign table";
            default -> "is not a table (relkind " + relkind + ")";
        };
        if (!is.isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" " + is + ", but an outbox or inbox must be an ordinary table"
                            + " without partitions or children, because rows are found by their ctid; create one with"
                            + " outbox-migrations (postgres), or name another table");
        }
    }

    @Override
    public boolean exists(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, Quoted.postgres(name));
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    @Override
    public boolean hasColumn(Connection connection, TableName name, String column) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(HAS_COLUMN)) {
            exists.setString(1, Quoted.postgres(name));
            exists.setString(2, column);
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
