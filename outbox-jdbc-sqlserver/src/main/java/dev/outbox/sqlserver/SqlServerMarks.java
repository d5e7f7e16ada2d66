package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.claim.LowWaterMarks;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Marks as three parameters each. */
final class SqlServerMarks implements LowWaterMarks.Binding {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSS");
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.9999999Z");

    @Override
    public void ready(Query query, long[] after, long[] upTo) throws SQLException {
        for (int band = 0; band < after.length; band++) {
            query.set("ready_" + band, after[band]).set("ready_end_" + band, upTo[band]);
        }
    }

    @Override
    public void due(Query query, Instant[] after, long[] afterSequences, Instant[] upTo) throws SQLException {
        for (int band = 0; band < after.length; band++) {
            query.set("due_" + band, new NationalText(text(after[band])))
                    .set("due_sequence_" + band, afterSequences[band])
                    .set("due_end_" + band, new NationalText(text(upTo[band])));
        }
    }

    /** In UTC, as {@code datetime2} reads it: what JDBC makes of a time depends on the JVM's time zone. */
    static String text(Instant instant) {
        Instant time = instant.isBefore(EARLIEST) ? EARLIEST : instant.isAfter(LATEST) ? LATEST : instant;
        return LocalDateTime.ofInstant(time, ZoneOffset.UTC).format(FORMAT);
    }
}
