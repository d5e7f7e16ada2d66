package dev.outbox.migrations.internal;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** How a database is told to wait for locks, and how a script for people is written for it. */
public interface ScriptDialect {
    /** Lets every later statement of the connection wait this long for a lock. */
    String setLockTimeout(Duration timeout);

    /** Takes {@link #setLockTimeout} back. */
    String resetLockTimeout();

    /** How long a statement of this step waits for a lock before it gives up. */
    Duration lockTimeout(Step step, UpgradeOptions options);

    /** Whether another try of this step may get the lock that this one did not get. */
    boolean isWorthRepeating(Step step, SQLException e);

    /** Whether a script of ours refused to go on, so that its message says everything. */
    boolean isRefusal(SQLException e);

    /** These steps as plain SQL, for people to read and run. */
    String render(List<Step> steps, UpgradeOptions options);
}
