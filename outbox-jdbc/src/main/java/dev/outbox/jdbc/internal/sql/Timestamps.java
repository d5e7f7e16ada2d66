package dev.outbox.jdbc.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Instants as timestamptz, whatever the time zone of the JVM or the session. */
public final class Timestamps {
    private static final Instant EARLIEST = OffsetDateTime.MIN.toInstant();
    private static final Instant LATEST = OffsetDateTime.MAX.toInstant();

    private Timestamps() {}

    /** {@link Instant#MIN} and {@link Instant#MAX} are PostgreSQL's infinities, and so is what the driver makes of those. */
    public static @Nullable OffsetDateTime write(@Nullable Instant instant) {
        if (instant == null) {
            return null;
        }
        if (!instant.isAfter(EARLIEST)) {
            return OffsetDateTime.MIN;
        }
        return instant.isBefore(LATEST) ? instant.atOffset(ZoneOffset.UTC) : OffsetDateTime.MAX;
    }

    public static Instant read(ResultSet rows, String column) throws SQLException {
        return rows.getObject(column, OffsetDateTime.class).toInstant();
    }

    public static @Nullable Instant readOptional(ResultSet rows, String column) throws SQLException {
        OffsetDateTime value = rows.getObject(column, OffsetDateTime.class);
        return value == null ? null : value.toInstant();
    }
}
