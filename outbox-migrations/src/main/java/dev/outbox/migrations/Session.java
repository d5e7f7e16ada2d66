package dev.outbox.migrations;

import dev.outbox.jdbc.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** How a database is told to wait for locks, and how a script for people is written for it. */
enum Session {
    POSTGRES("SET lock_timeout = ", "RESET lock_timeout", "BEGIN;\n", "COMMIT;\n\n", ";\n") {
        /** A concurrent build that failed leaves an index behind, which the next run repairs. */
        @Override
        boolean isWorthRepeating(Step step, SQLException e) {
            return step.together() && Set.of("55P03", "40P01").contains(String.valueOf(e.getSQLState()));
        }

        /** Nobody queues up behind a concurrent build, so that one try may take as long as all. */
        @Override
        Duration lockTimeout(Step step, Upgrade.Options options) {
            return step.together() ? options.lockTimeout() : options.patience();
        }
    },
    /**
     * Each statement is a batch of its own, for names are looked up when a batch begins. An error ends its batch and its
     * transaction, but most tools go on with the next batch, so that each is followed by a test that turns the rest off.
     */
    SQLSERVER(
            "SET LOCK_TIMEOUT ",
            "SET LOCK_TIMEOUT -1",
            "BEGIN TRANSACTION;\nGO\n",
            "COMMIT TRANSACTION;\nGO\n\n",
            ";\nGO\n") {
        @Override
        boolean isWorthRepeating(Step step, SQLException e) {
            return Set.of(1222, 1205).contains(e.getErrorCode());
        }

        @Override
        String first() {
            return SqlServerSql.SET_OPTIONS + "GO\n";
        }

        @Override
        String stopOnError(boolean together) {
            return "IF @@ERROR <> 0" + (together ? " OR @@TRANCOUNT = 0" : "") + " SET NOEXEC ON;\nGO\n";
        }

        /** An error that a name was not found leaves the transaction open. */
        @Override
        String last() {
            return "SET NOEXEC OFF;\nGO\nIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;\n";
        }

        /**
         * Everybody queues up behind an online build too, which wants a lock on the table when it begins and when it ends.
         * It waits longer than other changes, for who misses the last one begins anew.
         */
        @Override
        Duration lockTimeout(Step step, Upgrade.Options options) {
            return step.together()
                    ? options.lockTimeout()
                    : options.lockTimeout().multipliedBy(3).dividedBy(2);
        }
    };

    private final String wait;
    private final String forget;
    private final String begin;
    private final String commit;
    private final String end;

    Session(String wait, String forget, String begin, String commit, String end) {
        this.wait = wait;
        this.forget = forget;
        this.begin = begin;
        this.commit = commit;
        this.end = end;
    }

    static Session of(Connection connection) throws SQLException {
        return Database.of(connection) == Database.SQLSERVER ? SQLSERVER : POSTGRES;
    }

    /**
     * Sets the isolation, whatever the pool says: under SNAPSHOT SQL Server changes no column in a transaction, and skips
     * no row that somebody holds (650); under REPEATABLE READ PostgreSQL changes no row that somebody has changed.
     *
     * @return which it was, to be set again
     */
    static int isolate(Connection connection, int isolation) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback(); // what has been read so far
        }
        int before = connection.getTransactionIsolation();
        connection.setTransactionIsolation(isolation);
        return before;
    }

    /** Whether another try may get the lock. */
    abstract boolean isWorthRepeating(Step step, SQLException e);

    /** How long a statement of this step waits for a lock before it gives up. */
    abstract Duration lockTimeout(Step step, Upgrade.Options options);

    /** Every statement waits so long for a lock. */
    String wait(Duration timeout) {
        return wait + timeout.toMillis();
    }

    /** As before. */
    String forget() {
        return forget;
    }

    /** What a script begins with. */
    String first() {
        return "";
    }

    /**
     * Follows each statement of a script.
     *
     * @param together whether it was one of a transaction
     */
    String stopOnError(boolean together) {
        return "";
    }

    /** What is run at the end of a script, whether it was stopped or not. */
    String last() {
        return "";
    }

    String render(List<Step> steps, Upgrade.Options options) {
        StringBuilder script = new StringBuilder(first());
        for (Step step : steps) {
            script.append(wait(lockTimeout(step, options))).append(";\n");
            script.append(step.together() ? begin : this == SQLSERVER ? "GO\n" : "");
            step.statements()
                    .forEach(statement -> script.append(statement.strip().replaceAll(";$", ""))
                            .append(end)
                            .append(stopOnError(step.together())));
            script.append(step.together() ? commit : "\n");
        }
        return script.append(last()).append(forget).append(";\n").toString();
    }
}
