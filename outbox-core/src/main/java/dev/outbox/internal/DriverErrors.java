package dev.outbox.internal;

import java.sql.SQLException;

/** What the errors of one driver mean. Each driver's are known to one class; who follows the standard needs none. */
interface DriverErrors {
    /** Whether the server itself refused, and the session lived on. */
    boolean isAnswer(SQLException e);

    /** Whether the same work may succeed later. */
    boolean isTransient(SQLException e);

    /** Whether the first line of the message may quote values of a row. */
    boolean quotesValues(SQLException e);

    /** How the error is named where its message is left out. */
    String name(SQLException e);

    static DriverErrors of(SQLException e) {
        return SqlServerErrors.have(e) ? new SqlServerErrors() : new SqlStateErrors();
    }
}
