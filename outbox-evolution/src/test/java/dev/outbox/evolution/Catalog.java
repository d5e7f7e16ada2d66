package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** What the catalog says of a table, with its name and schema taken out, so that tables can be compared. */
final class Catalog {
    private static final String DESCRIBE = """
            WITH t AS (SELECT ?::regclass AS oid)
            SELECT line FROM (
                SELECT 'column ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                    || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
                    || ' identity=' || a.attidentity::text || ' collation=' || COALESCE(c.collname, '-')
                    || ' storage=' || a.attstorage::text || ' statistics=' || COALESCE(a.attstattarget, -1)
                    || ' default=' || COALESCE(pg_get_expr(d.adbin, d.adrelid), '-')
                    || ' comment=' || COALESCE(col_description(t.oid, a.attnum), '-') || ' place=' || a.attnum AS line
                FROM t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                LEFT JOIN pg_collation c ON c.oid = a.attcollation
                UNION ALL SELECT 'constraint ' || conname || ' ' || contype::text || ' valid=' || convalidated || ' '
                    || pg_get_constraintdef(pg_constraint.oid)
                FROM t JOIN pg_constraint ON conrelid = t.oid
                UNION ALL SELECT 'index ' || pg_get_indexdef(indexrelid) || ' valid=' || indisvalid
                FROM t JOIN pg_index ON indrelid = t.oid
                UNION ALL SELECT 'trigger ' || tgname FROM t JOIN pg_trigger ON tgrelid = t.oid AND NOT tgisinternal
                UNION ALL SELECT 'option ' || unnest(reloptions) FROM t JOIN pg_class USING (oid)
                UNION ALL SELECT 'sequence ' || s.relname || ' cache ' || q.seqcache || ' start ' || q.seqstart
                    || ' increment ' || q.seqincrement || ' max ' || q.seqmax || ' ' || dep.deptype::text
                FROM t JOIN pg_depend dep ON dep.refobjid = t.oid AND dep.classid = 'pg_class'::regclass
                JOIN pg_class s ON s.oid = dep.objid AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid
                UNION ALL SELECT 'comment ' || COALESCE(obj_description(oid, 'pg_class'), '-') FROM t
            ) lines ORDER BY line COLLATE "C"
            """;

    private static final String NAMED_AFTER_IT = """
            WITH t AS (SELECT ?::regclass AS oid)
            SELECT line FROM (
                SELECT 'function ' || proname AS line FROM t JOIN pg_class USING (oid)
                JOIN pg_proc ON pronamespace = relnamespace
                WHERE proname LIKE relname || '%'
                UNION ALL SELECT 'relation ' || o.relname FROM t JOIN pg_class c USING (oid)
                JOIN pg_class o ON o.relnamespace = c.relnamespace AND o.relname LIKE c.relname || '%'
            ) lines ORDER BY line COLLATE "C"
            """;

    private Catalog() {}

    /** The table itself. */
    static List<String> describe(DataSource dataSource, String schema, String table) throws SQLException {
        return lines(dataSource, DESCRIBE, schema, table);
    }

    /** The table apart from the order of its columns, and whatever in its schema is named after it. */
    static List<String> describeWithFamily(DataSource dataSource, String schema, String table) throws SQLException {
        List<String> lines = new ArrayList<>();
        describe(dataSource, schema, table).forEach(line -> lines.add(line.replaceAll(" place=\\d+$", "")));
        lines.addAll(lines(dataSource, NAMED_AFTER_IT, schema, table));
        return lines;
    }

    private static List<String> lines(DataSource dataSource, String query, String schema, String table)
            throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement describe = connection.prepareStatement(query)) {
            describe.setString(1, "\"" + schema + "\".\"" + table + "\"");
            List<String> lines = new ArrayList<>();
            try (ResultSet rows = describe.executeQuery()) {
                while (rows.next()) {
                    lines.add(rows.getString(1)
                            .replace("\"" + schema + "\".", "")
                            .replace(schema + ".", "")
                            .replace("\"" + table + "\"", "TABLE")
                            .replace(table, "TABLE")
                            .replace("\"", ""));
                }
            }
            return lines;
        }
    }

    static boolean exists(DataSource dataSource, String table) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement exists = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            exists.setString(1, table);
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
