package dev.outbox.jdbc.internal.sql;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A value that one database needs to be set in a way of its own. */
public interface Parameter {
    void set(PreparedStatement statement, int position) throws SQLException;
}
