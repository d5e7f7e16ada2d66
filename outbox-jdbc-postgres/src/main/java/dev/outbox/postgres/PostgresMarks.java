package dev.outbox.postgres;

import dev.outbox.jdbc.internal.Marks;
import dev.outbox.jdbc.internal.Query;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;

/** Marks as arrays. */
final class PostgresMarks implements Marks.Binding {
    /** Older due times the server spells in its own way; nobody's message is that old. */
    private static final Instant LONG_AGO = Instant.EPOCH;

    @Override
    public void ready(Query query, long[] sequences) throws SQLException {
        query.setArray("ready_marks", "int8", boxed(sequences));
    }

    @Override
    public void due(Query query, Instant[] due, long[] sequences) throws SQLException {
        Object[] marks = Arrays.stream(due)
                .map(mark -> mark.isBefore(LONG_AGO) ? "-infinity" : mark.toString())
                .toArray();
        query.setArray("due_marks", "timestamptz", marks).setArray("due_sequences", "int8", boxed(sequences));
    }

    private static Object[] boxed(long[] sequences) {
        return Arrays.stream(sequences).boxed().toArray();
    }
}
