package dev.outbox.postgres;

import dev.outbox.jdbc.internal.claim.LowWaterMarks;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;

/** Marks as arrays. */
final class PostgresMarks implements LowWaterMarks.Binding {
    @Override
    public void ready(Query query, long[] after, long[] upTo) throws SQLException {
        query.setArray("ready_marks", "int8", boxed(after)).setArray("ready_ends", "int8", boxed(upTo));
    }

    @Override
    public void due(Query query, Instant[] after, long[] afterSequences, Instant[] upTo) throws SQLException {
        query.setArray("due_marks", "timestamptz", texts(after))
                .setArray("due_sequences", "int8", boxed(afterSequences))
                .setArray("due_ends", "timestamptz", texts(upTo));
    }

    private static Object[] texts(Instant[] times) {
        return Arrays.stream(times)
                .map(time -> time.equals(Instant.MIN)
                        ? "-infinity"
                        : time.equals(Instant.MAX) ? "infinity" : time.toString())
                .toArray();
    }

    private static Object[] boxed(long[] sequences) {
        return Arrays.stream(sequences).boxed().toArray();
    }
}
