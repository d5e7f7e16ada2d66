package dev.outbox.migrations;

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
                    || ' default=' || COALESCE(pg_get_expr(d.adbin, d.adrelid), '-') || ' place=' || a.attnum AS line
                FROM t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                LEFT JOIN pg_collation c ON c.oid = a.attcollation
                UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
                FROM t JOIN pg_constraint ON conrelid = t.oid
                UNION ALL SELECT 'index ' || pg_get_indexdef(indexrelid) FROM t JOIN pg_index ON indrelid = t.oid
                UNION ALL SELECT 'option ' || unnest(reloptions) FROM t JOIN pg_class USING (oid)
                UNION ALL SELECT 'sequence ' || s.relname || ' cache ' || q.seqcache
                FROM t JOIN pg_depend dep ON dep.refobjid = t.oid AND dep.classid = 'pg_class'::regclass
                JOIN pg_class s ON s.oid = dep.objid AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid
                UNION ALL SELECT 'comment ' || objsubid || ' ' || description
                FROM t JOIN pg_description ON objoid = t.oid AND classoid = 'pg_class'::regclass
            ) lines ORDER BY line COLLATE "C"
            """;

    private Catalog() {}

    static List<String> describe(DataSource dataSource, String schema, String table) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement describe = connection.prepareStatement(DESCRIBE)) {
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
