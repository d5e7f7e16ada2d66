package dev.outbox.jdbc.internal;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Instants as timestamptz, whatever the time zone of the JVM or the session. */
public final class Timestamps {
    private static final Instant EARLIEST = OffsetDateTime.MIN.toInstant();

    private Timestamps() {}

    /** {@link Instant#MIN} is PostgreSQL's -infinity, and so is what the driver makes of that. */
    public static @Nullable OffsetDateTime write(@Nullable Instant instant) {
        if (instant == null) {
            return null;
        }
        return instant.isAfter(EARLIEST) ? instant.atOffset(ZoneOffset.UTC) : OffsetDateTime.MIN;
    }

    public static Instant read(ResultSet rows, String column) throws SQLException {
        return rows.getObject(column, OffsetDateTime.class).toInstant();
    }

    public static @Nullable Instant readOptional(ResultSet rows, String column) throws SQLException {
        OffsetDateTime value = rows.getObject(column, OffsetDateTime.class);
        return value == null ? null : value.toInstant();
    }
}
