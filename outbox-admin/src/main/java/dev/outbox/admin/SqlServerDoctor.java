package dev.outbox.admin;

import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What bites on SQL Server. What vacuum is for on PostgreSQL, this database does by itself. */
final class SqlServerDoctor implements AdminDialect.Examiner {
    static final String DATABASE = """
            SELECT d.is_read_committed_snapshot_on AS rcsi, d.is_parameterization_forced AS forced,
                d.compatibility_level AS level
            FROM sys.databases d
            WHERE d.database_id = DB_ID()
            """;

    static final String TABLE = """
            SELECT t.lock_escalation_desc AS escalation,
                (SELECT COUNT(*) FROM sys.indexes i WHERE i.object_id = t.object_id AND i.is_disabled = 1) AS disabled,
                (SELECT COUNT(*) FROM sys.indexes i WHERE i.object_id = t.object_id AND i.index_id > 0) AS indexes
            FROM sys.tables t
            WHERE t.object_id = OBJECT_ID(:table)
            """;

    static final String SIZE = """
            SELECT SUM(a.total_pages) * 8 / 1024 AS mebibytes
            FROM sys.partitions p JOIN sys.allocation_units a ON a.container_id = p.partition_id
            WHERE p.object_id = OBJECT_ID(:table)
            """;

    /** An outbox has so many indexes, an inbox one more. */
    private static final int INDEXES = 10;

    private final AdminSession session;
    private final DoctorLimits limits;

    SqlServerDoctor(AdminSession session, DoctorLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    @Override
    public Map<String, Doctor.Examination> database() {
        Map<String, Doctor.Examination> checks = new LinkedHashMap<>();
        checks.put("isolation", this::isolation);
        checks.put("parameterization", this::parameterization);
        checks.put("pooler", () -> List.of(Diagnosis.skipped("", "SQL Server has no poolers in transaction mode")));
        checks.put("snapshots", () -> List.of(Diagnosis.skipped("", "nothing waits for vacuum on SQL Server")));
        return checks;
    }

    @Override
    public Map<String, Doctor.Examination> table(AdminTable table) {
        Map<String, Doctor.Examination> checks = new LinkedHashMap<>();
        checks.put("schema", () -> schema(table));
        checks.put("size", () -> size(table));
        return checks;
    }

    private boolean flag(String column) throws SQLException {
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery(DATABASE)) {
            row.next();
            return row.getBoolean(column);
        }
    }

    private List<Diagnosis> isolation() throws SQLException {
        return List.of(
                flag("rcsi")
                        ? Diagnosis.ok("", "READ_COMMITTED_SNAPSHOT is on: who reads waits for nobody")
                        : new Diagnosis(
                                "",
                                Severity.NOTE,
                                "READ_COMMITTED_SNAPSHOT is off: status and lists wait for rows that pollers hold",
                                "",
                                "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON, if your application bears it"));
    }

    private List<Diagnosis> parameterization() throws SQLException {
        return List.of(
                flag("forced")
                        ? new Diagnosis(
                                "",
                                Severity.WARN,
                                "parameterization is forced: literals become parameters, and filtered indexes are not"
                                        + " used",
                                "",
                                "ALTER DATABASE CURRENT SET PARAMETERIZATION SIMPLE")
                        : Diagnosis.ok("", "parameterization is simple"));
    }

    private record Figures(String escalation, int disabled, int indexes) {}

    private Figures figures(AdminTable table) throws SQLException {
        try (Query query = session.query(table, TABLE)) {
            query.set("table", session.text(table.layout().table()));
            return AdminSession.one(
                    query,
                    row -> new Figures(row.getString("escalation"), row.getInt("disabled"), row.getInt("indexes")));
        }
    }

    private List<Diagnosis> schema(AdminTable table) throws SQLException {
        Figures figures = figures(table);
        List<Diagnosis> found = new ArrayList<>();
        int expected = INDEXES + (table.kind() == TableKind.INBOX ? 1 : 0);
        if (figures.disabled > 0 || figures.indexes < expected) {
            found.add(new Diagnosis(
                    "",
                    Severity.FAIL,
                    "indexes are missing or disabled",
                    figures.indexes + " of at least " + expected + " are there, " + figures.disabled + " disabled",
                    "compare the table with OutboxMigrations.render(...), and create or rebuild them"));
        }
        if (!"DISABLE".equals(figures.escalation)) {
            found.add(new Diagnosis(
                    "",
                    Severity.WARN,
                    "a large batch may lock the whole table",
                    "lock escalation is " + figures.escalation,
                    "ALTER TABLE " + table.layout().table() + " SET (LOCK_ESCALATION = DISABLE)"));
        }
        return found.isEmpty() ? List.of(Diagnosis.ok("", "as installed")) : found;
    }

    private List<Diagnosis> size(AdminTable table) throws SQLException {
        long mebibytes;
        try (Query query = session.query(table, SIZE)) {
            query.set("table", session.text(table.layout().table()));
            mebibytes = AdminSession.one(query, row -> row.getLong("mebibytes"));
        }
        return List.of(
                mebibytes << 20 <= limits.tableBytes()
                        ? Diagnosis.ok("", mebibytes + " MiB with indexes")
                        : new Diagnosis(
                                "",
                                Severity.WARN,
                                "the table is large",
                                mebibytes + " MiB with indexes",
                                "shorten retention(...), or purge by hand; an outbox whose past nobody asks for can do"
                                        + " with Ack.DELETE"));
    }
}
