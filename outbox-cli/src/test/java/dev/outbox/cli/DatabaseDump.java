package dev.outbox.cli;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Everything that a command could have changed in a PostgreSQL database, as lines that can be compared. */
final class DatabaseDump {
    /** Tables and indexes are rewritten under a new {@code relfilenode}. What vacuum keeps up to date is left out. */
    private static final String CATALOG = """
            WITH ours AS (
                SELECT oid FROM pg_namespace WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
            )
            SELECT concat_ws(' ', 'schema', n.oid, n.nspname, n.nspacl)
              FROM pg_namespace n WHERE n.oid IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'relation', c.oid, c.relname, c.relkind, c.relfilenode, c.relacl, c.reloptions,
                   pg_get_indexdef(i.indexrelid), i.indisvalid)
              FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
             WHERE c.relnamespace IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'column', c.relname, a.attnum, a.attname, a.atttypid, a.attnotnull,
                   pg_get_expr(d.adbin, d.adrelid))
              FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
             WHERE c.relnamespace IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'constraint', c.oid, c.conname, c.convalidated, pg_get_constraintdef(c.oid))
              FROM pg_constraint c WHERE c.connamespace IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'trigger', t.oid, t.tgname, t.tgenabled, pg_get_triggerdef(t.oid)) FROM pg_trigger t
            UNION ALL
            SELECT concat_ws(' ', 'function', p.oid, p.proname, p.proacl, p.prosrc)
              FROM pg_proc p WHERE p.pronamespace IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'comment', d.objoid, d.objsubid, d.description)
              FROM pg_description d JOIN pg_class c ON c.oid = d.objoid
             WHERE d.classoid = 'pg_class'::regclass AND c.relnamespace IN (SELECT oid FROM ours)
            UNION ALL
            SELECT concat_ws(' ', 'sequence', s.schemaname, s.sequencename, s.last_value) FROM pg_sequences s
             ORDER BY 1""";

    private static final String TABLES = """
            SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables
             WHERE schemaname <> 'information_schema' AND schemaname NOT LIKE 'pg\\_%' ORDER BY 1""";

    private DatabaseDump() {}

    static List<String> of(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            List<String> dump = new ArrayList<>(lines(connection, CATALOG));
            for (String table : lines(connection, TABLES)) {
                // a row that was written, even with the same values, or locked has other system columns
                dump.addAll(lines(
                        connection,
                        "SELECT concat_ws(' ', 'row', '" + table + "', t.ctid, t.xmin, t.xmax, t::text) FROM " + table
                                + " t ORDER BY 1"));
            }
            return dump;
        }
    }

    private static List<String> lines(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> lines = new ArrayList<>();
            while (rows.next()) {
                lines.add(rows.getString(1));
            }
            return lines;
        }
    }
}
