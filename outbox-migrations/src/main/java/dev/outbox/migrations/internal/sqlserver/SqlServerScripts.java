package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * In a script each statement is a batch of its own, because names are looked up when a batch begins. An error ends its batch
 * and its transaction, but most tools go on with the next batch, so that each batch is followed by a test that turns the rest
 * off.
 */
final class SqlServerScripts implements ScriptDialect {
    private static final int LOCK_TIMEOUT = 1222;
    private static final int DEADLOCK = 1205;

    @Override
    public String setLockTimeout(Duration timeout) {
        return "SET LOCK_TIMEOUT " + timeout.toMillis();
    }

    @Override
    public String resetLockTimeout() {
        return "SET LOCK_TIMEOUT -1";
    }

    /**
     * Other sessions queue up behind an online build too, which wants a lock on the table when it begins and when it ends. It
     * waits longer than other changes, because one that misses the last lock begins anew.
     */
    @Override
    public Duration lockTimeout(Step step, UpgradeOptions options) {
        return step.together()
                ? options.lockTimeout()
                : options.lockTimeout().multipliedBy(3).dividedBy(2);
    }

    @Override
    public boolean isWorthRepeating(Step step, SQLException e) {
        return Set.of(LOCK_TIMEOUT, DEADLOCK).contains(e.getErrorCode());
    }

    @Override
    public boolean isRefusal(SQLException e) {
        return e.getErrorCode() == TableSql.REFUSED;
    }

    /** At its end it is turned on again, and rolls back what an error left open because a name was not found. */
    @Override
    public String render(List<Step> steps, UpgradeOptions options) {
        StringBuilder script = new StringBuilder(TableSql.SET_OPTIONS).append("GO\n");
        for (Step step : steps) {
            script.append(setLockTimeout(lockTimeout(step, options))).append(";\n");
            script.append(step.together() ? "BEGIN TRANSACTION;\nGO\n" : "GO\n");
            step.statements()
                    .forEach(statement -> script.append(statement.strip().replaceAll(";$", ""))
                            .append(";\nGO\n")
                            .append(
                                    step.together()
                                            ? "IF @@ERROR <> 0 OR @@TRANCOUNT = 0 SET NOEXEC ON;\nGO\n"
                                            : "IF @@ERROR <> 0 SET NOEXEC ON;\nGO\n"));
            script.append(step.together() ? "COMMIT TRANSACTION;\nGO\n\n" : "\n");
        }
        return script.append("SET NOEXEC OFF;\nGO\nIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;\n")
                .append(resetLockTimeout())
                .append(";\n")
                .toString();
    }
}
