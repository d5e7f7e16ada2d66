package dev.outbox.jdbc.internal.claim;

import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How far one source has come on the queues of rows without a key, by priority.
 *
 * <p>A dead index entry costs as much as a live one while an old snapshot keeps vacuum away. So these queues
 * are entered after the last row taken. Rows that commit late, below the mark, are found by a sweep from the
 * start, once a second; a sweep that turns out slow is made rarer, up to half a minute, and goes in pieces: see {@link QueueMarks}.
 * A row that goes back to Ready gets a due time, so it is never hidden by the mark of the ready queue.
 */
public final class LowWaterMarks {
    /**
     * How far the marks of the waiting queue stay behind the clock. A row gets its due time when its settle begins and is seen
     * when that commits: with a short delay, a mark at the clock would have passed it by then.
     */
    static final Duration SETTLING = Duration.ofMillis(200);

    /** With a topic filter: how many rows of each band one claim looks at; then its mark moves past them. */
    private static final int STRETCH = 4_096;

    /** Shorter pieces of a sweep are not cut: so many sequence numbers. */
    static final long SHORTEST_PIECE = 1_000;

    /** And such a part of the time in which rows were due. */
    static final Duration SHORTEST_TIME = Duration.ofMillis(10);

    /** Due times are counted in units of this many nanoseconds; no database has finer ones. */
    static final long TICK = 100;

    private static final long TICKS_PER_SECOND = Duration.ofSeconds(1).toNanos() / TICK;

    /** By the code of their priority. */
    private static final String[] BANDS = {"high", "normal", "bulk"};

    /** How a database's statements take the bounds between which they look for rows, by the codes of the priorities. */
    public interface Binding {
        void ready(Query query, long[] after, long[] upTo) throws SQLException;

        /**
         * @param after {@link Instant#MIN} where there is no mark
         * @param upTo {@link Instant#MAX} where there is no bound
         */
        void due(Query query, Instant[] after, long[] afterSequences, Instant[] upTo) throws SQLException;
    }

    private final Binding binding;
    private final QueueMarks ready;
    private final QueueMarks due;
    private final @Nullable Position[] stretchEnd = new Position[BANDS.length];
    private int readyClaims;
    private int dueClaims;

    public LowWaterMarks(LongSupplier ticker, Binding binding) {
        this.binding = binding;
        this.ready = new QueueMarks(ticker, SHORTEST_PIECE);
        this.due = new QueueMarks(ticker, SHORTEST_TIME.toNanos() / TICK);
    }

    /** A claim for the same topics, and maybe for others, has come so far: so has this one. */
    void startFrom(LowWaterMarks other) {
        ready.startFrom(other.ready);
        due.startFrom(other.due);
    }

    /** The next sweep is due when that of the other one is. */
    void sweepWith(LowWaterMarks other) {
        ready.sweepWith(other.ready);
        due.sweepWith(other.due);
    }

    /** A claim on one queue: a few pieces of a sweep, if it is time for them; if these find nothing, from the marks. */
    public ClaimedRows walk(ClaimQueue queue, QueueTurns.Walk once) throws SQLException {
        QueueMarks marks = queue == ClaimQueue.READY ? ready : due;
        ClaimedRows claimed;
        do {
            marks.begin();
            try {
                claimed = once.on(queue);
            } catch (SQLException | RuntimeException e) {
                marks.failed();
                throw e;
            }
        } while (claimed.isEmpty() && marks.goesOn());
        return claimed;
    }

    public void setReady(Query query, int count) throws SQLException {
        long[] after = Arrays.stream(ready.from()).mapToLong(Position::at).toArray();
        binding.ready(BandShares.set(query, count, readyClaims++), after, ready.to());
        Arrays.fill(stretchEnd, null);
    }

    public void setStretch(Query query) throws SQLException {
        query.set("stretch", STRETCH);
    }

    public void setDue(Query query, int count) throws SQLException {
        Position[] from = due.from();
        Instant[] after = Arrays.stream(from).map(one -> time(one.at())).toArray(Instant[]::new);
        long[] sequences = Arrays.stream(from).mapToLong(Position::tie).toArray();
        Instant[] upTo = Arrays.stream(due.to()).mapToObj(LowWaterMarks::time).toArray(Instant[]::new);
        binding.due(BandShares.set(query, count, dueClaims++), after, sequences, upTo);
    }

    /** Where the stretch of each band ends that a claim with a topic filter looked at. */
    public void walked(ResultSet row) throws SQLException {
        for (int band = 0; band < BANDS.length; band++) {
            Long end = row.getObject(BANDS[band] + "_end", Long.class);
            stretchEnd[band] = end == null ? null : Position.after(end);
        }
    }

    /** A row was taken: it and what is before it has passed. */
    public void took(ResultSet row) throws SQLException {
        int band = row.getInt("priority");
        long sequence = row.getLong("sequence");
        Instant dueOn = Timestamps.readOptional(row, "due_on");
        if (dueOn == null) {
            ready.took(band, new Position(sequence, 0));
        } else {
            due.took(band, new Position(ticks(dueOn), sequence));
        }
    }

    /**
     * The claim on the ready queue is over.
     *
     * @param hadRoom whether it would have taken more, of rows and of bytes: then all of the stretch has passed
     * @return whether it saw all there is
     */
    public boolean end(boolean hadRoom) {
        return ready.end(hadRoom, stretchEnd);
    }

    /**
     * The claim on the waiting queue is over; from the marks it always sees all there is, though it may not have had room for it.
     *
     * @param at when it claimed, by the clock of the database
     */
    public boolean endDue(boolean hadRoom, Instant at) {
        boolean walkedAll = due.end(hadRoom, new Position[BANDS.length]);
        due.limit(new Position(ticks(at.minus(SETTLING)), Long.MIN_VALUE));
        return walkedAll;
    }

    /** Times that a server may spell in a way of its own are the start. */
    static long ticks(Instant time) {
        return time.isBefore(Instant.EPOCH)
                ? Long.MIN_VALUE
                : time.getEpochSecond() * TICKS_PER_SECOND + time.getNano() / TICK;
    }

    static Instant time(long ticks) {
        if (ticks == Long.MIN_VALUE || ticks == Long.MAX_VALUE) {
            return ticks < 0 ? Instant.MIN : Instant.MAX;
        }
        return Instant.ofEpochSecond(
                Math.floorDiv(ticks, TICKS_PER_SECOND), Math.floorMod(ticks, TICKS_PER_SECOND) * TICK);
    }
}
