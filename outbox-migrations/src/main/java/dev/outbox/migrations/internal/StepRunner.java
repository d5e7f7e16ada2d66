package dev.outbox.migrations.internal;

import dev.outbox.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Runs steps on one connection, and leaves that as it was. */
public record StepRunner(Connection connection, ScriptDialect dialect, UpgradeOptions options) {
    /**
     * @param what would have failed, as the start of a sentence: "cannot take table outbox to phase 2"
     * @throws OutboxException if a step refused, with its reason
     */
    public void run(String what, List<Step> steps) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        int isolation = Isolation.set(connection, Connection.TRANSACTION_READ_COMMITTED);
        try {
            for (Step step : steps) {
                run(step);
            }
        } catch (SQLException e) {
            also(e, () -> restore(autoCommit, isolation));
            if (dialect.isRefusal(e)) {
                throw new OutboxException(what + ": " + e.getMessage(), e, false);
            }
            throw e;
        } catch (RuntimeException e) {
            also(e, () -> restore(autoCommit, isolation));
            throw e;
        }
        restore(autoCommit, isolation);
    }

    private void restore(boolean autoCommit, int isolation) throws SQLException {
        connection.setAutoCommit(true);
        execute(dialect.resetLockTimeout());
        Isolation.set(connection, isolation);
        connection.setAutoCommit(autoCommit);
    }

    private interface Work {
        void run() throws SQLException;
    }

    /** Does what has to be done after a failure; what fails of that must not hide the failure. */
    private static void also(Exception failure, Work work) {
        try {
            work.run();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    private void run(Step step) throws SQLException {
        connection.setAutoCommit(!step.together());
        if (step.together()) {
            repeat(step, () -> {
                for (String statement : step.statements()) {
                    execute(statement);
                }
                connection.commit();
            });
            return;
        }
        for (String statement : step.statements()) {
            repeat(step, () -> execute(statement));
        }
    }

    private void repeat(Step step, Work work) throws SQLException {
        long deadline = System.nanoTime() + options.patience().toNanos();
        while (true) {
            try {
                execute(dialect.setLockTimeout(dialect.lockTimeout(step, options)));
                work.run();
                return;
            } catch (SQLException e) {
                if (step.together()) {
                    also(e, connection::rollback);
                }
                if (!dialect.isWorthRepeating(step, e) || System.nanoTime() > deadline) {
                    throw e;
                }
                Pause.of(options.lockTimeout());
            }
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
