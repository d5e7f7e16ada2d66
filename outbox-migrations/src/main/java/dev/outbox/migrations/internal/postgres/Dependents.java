package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What else in the database depends on a table: it would break, or keep a phase from its work. */
final class Dependents {
    private static final String READERS = """
            SELECT DISTINCT c.relkind::text || ' ' || c.oid::regclass::text, a.attname
            FROM pg_depend d
            JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            JOIN pg_class c ON c.oid = r.ev_class
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = %1$s
            UNION
            SELECT 'p ' || p.pubname, a.attname
            FROM pg_publication_rel pr
            JOIN pg_publication p ON p.oid = pr.prpubid
            LEFT JOIN pg_depend d ON d.classid = 'pg_publication_rel'::regclass AND d.objid = pr.oid
                AND d.refobjid = pr.prrelid AND d.refobjsubid > 0
            LEFT JOIN pg_attribute a ON a.attrelid = pr.prrelid AND a.attnum = d.refobjsubid
            WHERE pr.prrelid = %1$s
            UNION
            SELECT 'p ' || p.pubname, NULL
            FROM pg_publication_tables t
            JOIN pg_publication p ON p.pubname = t.pubname
            JOIN pg_namespace n ON n.nspname = t.schemaname
            JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
            WHERE c.oid = %1$s
              AND NOT EXISTS (SELECT FROM pg_publication_rel pr WHERE pr.prpubid = p.oid AND pr.prrelid = c.oid)
            """;

    private static final String REFERENCES = """
            SELECT f.conname, f.conrelid::regclass::text, string_agg(a.attname, ', ' ORDER BY a.attname)
            FROM pg_constraint f
            JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey)
            WHERE f.contype = 'f' AND f.confrelid = %s AND a.attname = ANY (%s)
            GROUP BY f.conname, f.conrelid
            """;

    private final Connection connection;
    private final LegacyTable table;
    private final TableSql sql;
    private final List<Finding> findings = new ArrayList<>();

    Dependents(Connection connection, LegacyTable table, TableSql sql) {
        this.connection = connection;
        this.table = table;
        this.sql = sql;
    }

    List<Finding> findings() throws SQLException {
        readers();
        references();
        return findings;
    }

    private void readers() throws SQLException {
        List<String> old = table.oldColumns();
        List<String> retyped =
                table.retyped().stream().map(Canonical.Column::name).toList();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READERS.formatted(sql.regclass()))) {
            while (row.next()) {
                String reader = row.getString(1);
                if (row.getString(2) == null && !old.isEmpty()) {
                    add("publication " + reader.substring(2) + " sends whole rows: its subscribers have to work"
                            + " without the old columns after phase 4");
                } else if (old.contains(row.getString(2))) {
                    add(
                            (reader.startsWith("p ") ? "publication " : "view ") + reader.substring(2)
                                    + " reads the old column " + row.getString(2) + "; change or drop it first",
                            Phase.RENAMING,
                            Phase.CLEAN);
                } else if (retyped.contains(row.getString(2)) && !reader.startsWith("p ")) {
                    add(
                            "view " + reader.substring(2) + " reads the column " + row.getString(2)
                                    + ", whose type is going to change; drop it, and create it again after phase 4",
                            Phase.CLEAN);
                }
            }
        }
    }

    /** A foreign key needs the key that phase 3 replaces, or a column that phase 4 drops. */
    private void references() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(REFERENCES.formatted(sql.regclass(), sql.going()))) {
            while (row.next()) {
                add(
                        "foreign key " + row.getString(1) + " of " + row.getString(2) + " names " + row.getString(3)
                                + ", which is going to be dropped; drop it first",
                        Phase.FLIPPED,
                        Phase.RENAMING,
                        Phase.CLEAN);
            }
        }
    }

    private void add(String text, Phase... blocks) {
        findings.add(new Finding(Concern.OLD_READER, text, 0, false, Set.of(blocks)));
    }
}
