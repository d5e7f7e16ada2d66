package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A handler's transaction, which must be one and the same from its begin to its settle.
 *
 * <p>A deadlock (1205) ends the whole transaction, but JDBC does not notice: the next statement silently begins another
 * one. A handler that swallows the error would commit the second half of its effects and the settle with them, and the
 * first half would be lost. So the begin takes an application lock that lives exactly as long as the transaction,
 * and the settle asks for it, in its own batch.
 */
final class SqlServerHandling {
    /** Reading the table opens the transaction, which the driver has only announced. */
    static final String BEGIN = """
            SET NOCOUNT ON;
            DECLARE @rows int, @lock_code int, @resource nvarchar(255);
            SET @resource = CONCAT(N'dev.outbox handling ', @@SPID);
            SELECT @rows = COUNT(*) FROM {table} WHERE {no_row};
            EXEC @lock_code = sp_getapplock @Resource = @resource, @LockMode = N'Exclusive',
                @LockOwner = N'Transaction', @LockTimeout = 0;
            SELECT @lock_code AS lock_code;
            """;

    /** What the settle begins with. */
    static final String SAME = """
            SET NOCOUNT ON;
            DECLARE @held nvarchar(32), @resource nvarchar(255);
            SET @resource = CONCAT(N'dev.outbox handling ', @@SPID);
            IF @@TRANCOUNT > 0 SET @held = APPLOCK_MODE(N'public', @resource, N'Transaction');
            IF COALESCE(@held, N'NoLock') = N'NoLock'
            BEGIN;
                THROW 51205, N'another transaction', 1;
            END;
            """;

    private static final int ANOTHER_TRANSACTION = 51_205;

    private final SqlServerTable table;
    private final Sql begin;

    SqlServerHandling(SqlServerTable table) {
        this.table = table;
        this.begin = table.layout().resolve(BEGIN);
    }

    void begin(Connection tx) throws SQLException {
        try (Query query = begin.on(tx);
                ResultSet answer = query.rows()) {
            answer.next();
            int code = answer.getInt("lock_code");
            if (code < 0) {
                throw SqlServerLocks.refused("begin of a transaction for " + table.name() + " failed", code);
            }
        }
    }

    OutboxException failure(SQLException e) {
        String what = "settle in " + table.name() + " failed";
        if (e.getErrorCode() != ANOTHER_TRANSACTION) {
            return SqlServerLocks.failure(what, e);
        }
        String message = what + ": the handler's transaction ended before the handler did, so part of its effects is"
                + " lost and nothing is committed; let the handler rethrow a deadlock (1205) instead of going on after"
                + " it, and neither commit nor roll back in the handler";
        return new OutboxException(message, new SQLException(message, "40001", e.getErrorCode()), true);
    }
}
