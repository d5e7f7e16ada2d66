package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Checks;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the doctor checks on PostgreSQL. */
final class PostgresChecks implements Checks {
    private final AdminSession session;
    private final CheckLimits limits;

    PostgresChecks(AdminSession session, CheckLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    @Override
    public Map<String, Check> database() {
        PostgresServerChecks server = new PostgresServerChecks(session, limits);
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("isolation", server::isolation);
        checks.put("pooler", server::pooler);
        checks.put("snapshots", server::snapshots);
        checks.put("replication slots", server::slots);
        return checks;
    }

    @Override
    public Map<String, Check> table(AdminTable table) {
        PostgresTableChecks found = new PostgresTableChecks(session, limits, table);
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("schema", found::schema);
        checks.put("autovacuum", found::autovacuum);
        checks.put("dead tuples", found::deadTuples);
        checks.put("size", found::size);
        return checks;
    }
}
