package dev.outbox.migrations.internal.postgres;

import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

final class PostgresScripts implements ScriptDialect {
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final String DEADLOCK = "40P01";

    @Override
    public String setLockTimeout(Duration timeout) {
        return "SET lock_timeout = " + timeout.toMillis();
    }

    @Override
    public String resetLockTimeout() {
        return "RESET lock_timeout";
    }

    /** No other session queues up behind a concurrent build, so that one try may take as long as all. */
    @Override
    public Duration lockTimeout(Step step, UpgradeOptions options) {
        return step.together() ? options.lockTimeout() : options.patience();
    }

    /** A concurrent build that failed leaves an index behind, which the next run repairs. */
    @Override
    public boolean isWorthRepeating(Step step, SQLException e) {
        return step.together() && Set.of(LOCK_NOT_AVAILABLE, DEADLOCK).contains(String.valueOf(e.getSQLState()));
    }

    /** A guard raises an error of PostgreSQL's own. */
    @Override
    public boolean isRefusal(SQLException e) {
        return false;
    }

    @Override
    public String render(List<Step> steps, UpgradeOptions options) {
        StringBuilder script = new StringBuilder();
        for (Step step : steps) {
            script.append(setLockTimeout(lockTimeout(step, options))).append(";\n");
            script.append(step.together() ? "BEGIN;\n" : "");
            step.statements()
                    .forEach(statement -> script.append(statement.strip().replaceAll(";$", ""))
                            .append(";\n"));
            script.append(step.together() ? "COMMIT;\n\n" : "\n");
        }
        return script.append(resetLockTimeout()).append(";\n").toString();
    }
}
