package dev.outbox.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Instants as timestamptz, whatever the time zone of the JVM or the session. */
final class Timestamps {
    private static final Instant EARLIEST = OffsetDateTime.MIN.toInstant();

    private Timestamps() {}

    /** {@link Instant#MIN} is PostgreSQL's -infinity, and so is what the driver makes of that. */
    static @Nullable OffsetDateTime write(@Nullable Instant instant) {
        if (instant == null) {
            return null;
        }
        return instant.isAfter(EARLIEST) ? instant.atOffset(ZoneOffset.UTC) : OffsetDateTime.MIN;
    }

    static Instant read(ResultSet rows, String column) throws SQLException {
        return rows.getObject(column, OffsetDateTime.class).toInstant();
    }

    static @Nullable Instant readOptional(ResultSet rows, String column) throws SQLException {
        OffsetDateTime value = rows.getObject(column, OffsetDateTime.class);
        return value == null ? null : value.toInstant();
    }
}
