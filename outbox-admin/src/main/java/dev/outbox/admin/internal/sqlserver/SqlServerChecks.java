package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Checks;
import dev.outbox.admin.internal.Findings;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the doctor checks on SQL Server. The database does by itself what vacuum does on PostgreSQL. */
final class SqlServerChecks implements Checks {
    static final String DATABASE = """
            SELECT d.is_read_committed_snapshot_on AS rcsi, d.is_parameterization_forced AS forced
            FROM sys.databases d
            WHERE d.database_id = DB_ID()
            """;

    static final String ESCALATION = """
            SELECT t.lock_escalation_desc AS escalation
            FROM sys.tables t
            WHERE t.object_id = OBJECT_ID(:table)
            """;

    static final String SIZE = """
            SELECT SUM(a.total_pages) * 8 / 1024 AS mebibytes
            FROM sys.partitions p JOIN sys.allocation_units a ON a.container_id = p.partition_id
            WHERE p.object_id = OBJECT_ID(:table)
            """;

    /** So many indexes an outbox has; an inbox has one more. */
    private static final int INDEXES = 10;

    private final AdminSession session;
    private final CheckLimits limits;

    SqlServerChecks(AdminSession session, CheckLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    @Override
    public Map<String, Check> database() {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("isolation", this::isolation);
        checks.put("parameterization", this::parameterization);
        checks.put("pooler", findings -> findings.skipped("SQL Server has no poolers in transaction mode", "", ""));
        checks.put("snapshots", findings -> findings.skipped("nothing waits for vacuum on SQL Server", "", ""));
        return checks;
    }

    @Override
    public Map<String, Check> table(AdminTable table) {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("schema", findings -> schema(table, findings));
        checks.put("size", findings -> size(table, findings));
        return checks;
    }

    private void isolation(Findings findings) throws SQLException {
        if (!session.one(DATABASE, row -> row.getBoolean("rcsi"))) {
            findings.note(
                    "READ_COMMITTED_SNAPSHOT is off: status and lists wait for rows that pollers hold",
                    "",
                    "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON, if your application works with it");
        }
        findings.okIfNothingFound("READ_COMMITTED_SNAPSHOT is on: readers do not wait for writers");
    }

    private void parameterization(Findings findings) throws SQLException {
        if (session.one(DATABASE, row -> row.getBoolean("forced"))) {
            findings.warn(
                    "parameterization is forced: literals become parameters, and filtered indexes are not used",
                    "",
                    "ALTER DATABASE CURRENT SET PARAMETERIZATION SIMPLE");
        }
        findings.okIfNothingFound("parameterization is simple");
    }

    private void schema(AdminTable table, Findings findings) throws SQLException {
        Collection<Index> indexes = Catalog.of(session.dialect().database())
                .find(session.connection(), table.name())
                .map(found -> found.indexes().values())
                .orElse(List.of());
        long disabled = indexes.stream().filter(index -> !index.valid()).count();
        int expected = INDEXES + (table.kind() == TableKind.INBOX ? 1 : 0);
        if (disabled > 0 || indexes.size() < expected) {
            findings.fail(
                    "indexes are missing or disabled",
                    indexes.size() + " of at least " + expected + " are there, " + disabled + " disabled",
                    "compare the table with OutboxMigrations.render(...), and create or rebuild them");
        }
        String escalation;
        try (Query query = session.query(table, ESCALATION)) {
            query.set("table", session.text(table.quoted()));
            escalation = AdminSession.one(query, row -> row.getString("escalation"));
        }
        if (!"DISABLE".equals(escalation)) {
            findings.warn(
                    "a large batch may lock the whole table",
                    "lock escalation is " + escalation,
                    "ALTER TABLE " + table.quoted() + " SET (LOCK_ESCALATION = DISABLE)");
        }
        findings.okIfNothingFound("as installed");
    }

    private void size(AdminTable table, Findings findings) throws SQLException {
        long mebibytes;
        try (Query query = session.query(table, SIZE)) {
            query.set("table", session.text(table.quoted()));
            mebibytes = AdminSession.one(query, row -> row.getLong("mebibytes"));
        }
        if (mebibytes << 20 > limits.tableBytes()) {
            findings.warn(
                    "the table is large",
                    mebibytes + " MiB with indexes",
                    "shorten retention(...), or purge by hand; an outbox whose delivered messages are not needed can use"
                            + " Ack.DELETE");
        }
        findings.okIfNothingFound(mebibytes + " MiB with indexes");
    }
}
