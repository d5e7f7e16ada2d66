package dev.outbox.internal;

import java.sql.SQLException;

/** Errors that are told by their SQLState, as PostgreSQL's are and those that a pool makes. */
final class SqlStateErrors implements DriverErrors {
    @Override
    public boolean isAnswer(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return !state.startsWith("08") && !state.startsWith("57") && !state.startsWith("HY") && !state.equals("40003");
    }

    @Override
    public boolean isTransient(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return switch (state.substring(0, 2)) {
            // connection, transaction rollback (serialization, deadlock), out of resources
            case "08", "40", "53" -> true;
            // a primary that became a replica; lock not available; query cancelled, server shutting down or starting
            default -> state.equals("25006") || state.equals("55P03") || state.startsWith("57");
        };
    }

    /** A value was refused (class 22), or a trigger of the user wrote the message (P0). */
    @Override
    public boolean quotesValues(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.startsWith("22") || state.startsWith("P0");
    }

    @Override
    public String name(SQLException e) {
        return "SQLState " + e.getSQLState();
    }
}
