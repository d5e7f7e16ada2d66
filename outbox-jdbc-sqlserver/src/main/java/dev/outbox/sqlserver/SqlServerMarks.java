package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.Marks;
import dev.outbox.jdbc.internal.NationalText;
import dev.outbox.jdbc.internal.Query;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Marks as three parameters each. */
final class SqlServerMarks implements Marks.Binding {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSS");
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    @Override
    public void ready(Query query, long[] sequences) throws SQLException {
        for (int band = 0; band < sequences.length; band++) {
            query.set("ready_" + band, sequences[band]);
        }
    }

    @Override
    public void due(Query query, Instant[] due, long[] sequences) throws SQLException {
        for (int band = 0; band < sequences.length; band++) {
            query.set("due_" + band, new NationalText(text(due[band]))).set("due_sequence_" + band, sequences[band]);
        }
    }

    /** In UTC, as {@code datetime2} reads it: what JDBC makes of a time depends on the JVM's time zone. */
    static String text(Instant instant) {
        Instant time = instant.isBefore(EARLIEST) ? EARLIEST : instant;
        return LocalDateTime.ofInstant(time, ZoneOffset.UTC).format(FORMAT);
    }
}
