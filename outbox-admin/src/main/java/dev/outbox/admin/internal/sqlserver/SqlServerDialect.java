package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.AdminDialect;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Checks;
import dev.outbox.admin.internal.DeadLetterStatements;
import dev.outbox.admin.internal.ExactKey;
import dev.outbox.admin.internal.LookupStatements;
import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.admin.internal.StatusStatements;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** SQL Server. */
public final class SqlServerDialect implements AdminDialect {
    @Override
    public Database database() {
        return Database.SQLSERVER;
    }

    /**
     * WorkItemId, workitemid and work_item_id are the same. Between two phases a computed column may be the alias of a stored
     * one in another spelling.
     */
    @Override
    public Optional<String> spelling(FoundTable table, String column) {
        return spelling(table, column, false).or(() -> spelling(table, column, true));
    }

    private static Optional<String> spelling(FoundTable table, String column, boolean computed) {
        List<String> names = table.columns().values().stream()
                .filter(one -> one.computed() == computed)
                .map(Column::name)
                .toList();
        return new ColumnNames(table.name().toString(), names).like(List.of(column), null);
    }

    @Override
    public List<String> moreColumns() {
        return List.of("exact_key");
    }

    @Override
    public Map<String, String> expressions(FoundTable table, Map<String, String> columns) {
        Map<String, String> expressions = new HashMap<>();
        expressions.put("place", String.valueOf(columns.get("sequence")));
        expressions.put("done", columns.get("status") + " = 2");
        expressions.put("by_done", "");
        expressions.put("mine", "1 = 1");
        if (table.kind() == TableKind.INBOX) {
            expressions.put("same_consumer", "t." + columns.get("consumer") + " = heads.consumer");
        } else {
            expressions.put("consumer", "CAST(NULL AS nvarchar(255))");
            expressions.put("source", "CAST(NULL AS nvarchar(255))");
            expressions.put("first_seen_on", "SYSUTCDATETIME()");
            expressions.put("same_consumer", "1 = 1");
        }
        return expressions;
    }

    @Override
    public Query planned(Query query) {
        return query;
    }

    @Override
    public Object text(String text) {
        return new NationalText(text);
    }

    /** The exact key ends with a full stop. */
    @Override
    public ExactKey exactKey() {
        return new ExactKey("exact_key", ".");
    }

    @Override
    public DeadLetterStatements deadLetters() {
        return new SqlServerDeadLetters();
    }

    @Override
    public LookupStatements lookup() {
        return new SqlServerLookup();
    }

    @Override
    public StatusStatements status() {
        return new SqlServerStatus();
    }

    @Override
    public PurgeStatements purge() {
        return new SqlServerPurge();
    }

    @Override
    public Checks checks(AdminSession session, CheckLimits limits) {
        return new SqlServerChecks(session, limits);
    }
}
