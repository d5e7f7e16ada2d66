package dev.outbox.jdbc.internal.sqlserver;

import dev.outbox.jdbc.internal.sql.Parameter;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A text parameter that is sent as {@code nvarchar}, whatever the connection's settings: as {@code varchar} it would
 * lose characters, and keep a comparison from its index.
 */
public record NationalText(@Nullable String text) implements Parameter {
    @Override
    public void set(PreparedStatement statement, int position) throws SQLException {
        statement.setNString(position, text);
    }

    /** Maybe a payload. */
    @Override
    public String toString() {
        return "NationalText";
    }
}
