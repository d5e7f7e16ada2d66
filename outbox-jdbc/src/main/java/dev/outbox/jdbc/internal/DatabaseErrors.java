package dev.outbox.jdbc.internal;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import java.sql.SQLException;

/** Turns driver exceptions into {@link OutboxException}, judging by SQLState, never by message text. */
public final class DatabaseErrors {
    private DatabaseErrors() {}

    /** @param what failed, as the start of a sentence: "enqueue into outbox failed" */
    public static OutboxException of(String what, SQLException e) {
        return SqlFailure.of(what, e);
    }

    /** True if the same work in a new transaction, maybe on a new connection, may succeed. */
    public static boolean isRetryable(SQLException e) {
        return SqlFailure.isRetryable(e);
    }
}
