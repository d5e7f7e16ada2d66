package dev.outbox.migrations.internal;

import java.sql.Connection;
import java.sql.SQLException;

/** The isolation level that migrations work under. */
public final class Isolation {
    private Isolation() {}

    /**
     * Sets the level, whatever the pool has set: under SNAPSHOT SQL Server changes no column in a transaction, and skips no
     * row that another session has locked (650); under REPEATABLE READ PostgreSQL changes no row that was changed meanwhile.
     *
     * @return the level before, to be set again
     */
    public static int set(Connection connection, int level) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback(); // what has been read so far
        }
        int before = connection.getTransactionIsolation();
        connection.setTransactionIsolation(level);
        return before;
    }
}
