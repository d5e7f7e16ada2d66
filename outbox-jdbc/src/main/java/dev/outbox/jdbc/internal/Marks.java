package dev.outbox.jdbc.internal;

import dev.outbox.spi.ClaimRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How far one source has come on the roads of rows without a key, by priority.
 *
 * <p>A dead index entry costs as much as a live one while an old snapshot keeps vacuum away. So these roads
 * are entered after the last row taken. Rows that commit late, below the mark, are found by a sweep from the
 * start, once a second; a sweep that turns out slow is made rarer, up to half a minute, so that sweeps take a
 * twentieth of the time. After a sweep that had room for more, the marks are back where they were. A row that goes
 * back to Ready gets a due time, so it is never hidden by the mark of the ready road.
 */
public final class Marks {
    private static final Duration SWEEP_EVERY = Duration.ofSeconds(1);
    private static final Duration SWEEP_AT_LEAST_EVERY = Duration.ofSeconds(30);

    /**
     * How far the marks of the waiting road stay behind the clock. A row gets its due time when its settle begins and is seen
     * when that commits: with a short delay, a mark at the clock would have passed it by then.
     */
    private static final Duration SETTLING = Duration.ofMillis(200);

    /** With a topic filter: how many rows of each band one claim looks at; then its mark moves past them. */
    private static final int STRETCH = 4_096;

    /** By the code of their priority. */
    private static final String[] BANDS = {"high", "normal", "bulk"};

    /** How a database's statements take the marks, by the codes of the priorities. */
    public interface Binding {
        void ready(Query query, long[] sequences) throws SQLException;

        /** @param due {@link Instant#MIN} where there is no mark */
        void due(Query query, Instant[] due, long[] sequences) throws SQLException;
    }

    private final LongSupplier ticker;
    private final Binding binding;

    private final long[] ready = new long[BANDS.length];
    private final Instant[] due = new Instant[BANDS.length];
    private final long[] dueSequence = new long[BANDS.length];
    private final @Nullable Long[] stretchEnd = new Long[BANDS.length];

    /** What the marks are about; null before the first claim. */
    private @Nullable Set<String> topics;

    private Set<String> except = Set.of();

    /** Whether the last sweep, which may take several claims, has come to the end. */
    private boolean caughtUp;

    private long sweptAt;

    /** The time that statements of the sweep took, whatever lay between them. */
    private long sweepCost;

    private long asked;

    /** The marks before the sweep. */
    private final long[] readyBefore = new long[BANDS.length];

    private final Instant[] dueBefore = new Instant[BANDS.length];
    private boolean sweepsDue;
    private int readyClaims;
    private int dueClaims;

    public Marks(LongSupplier ticker, Binding binding) {
        this.ticker = ticker;
        this.binding = binding;
        Arrays.fill(due, Instant.MIN);
    }

    /** A claim begins: go on from the marks, or sweep. */
    public void begin(ClaimRequest request) {
        long now = ticker.getAsLong();
        boolean others = !(request.topics().equals(topics) && request.except().equals(except));
        if (others || (caughtUp && now - sweptAt >= sweepInterval())) {
            topics = request.topics();
            except = request.except();
            caughtUp = false;
            sweepsDue = true;
            sweepCost = 0;
            for (int band = 0; band < BANDS.length; band++) {
                readyBefore[band] = others ? Long.MIN_VALUE : ready[band];
                dueBefore[band] = others ? Instant.MIN : due[band];
            }
            Arrays.fill(ready, Long.MIN_VALUE);
            Arrays.fill(due, Instant.MIN);
            Arrays.fill(dueSequence, Long.MIN_VALUE);
        }
    }

    private long sweepInterval() {
        return Math.min(SWEEP_AT_LEAST_EVERY.toNanos(), Math.max(SWEEP_EVERY.toNanos(), 20 * sweepCost));
    }

    public void setReady(Query query, int count) throws SQLException {
        binding.ready(setTenth(query, count, readyClaims++), ready);
        Arrays.fill(stretchEnd, null);
        asked = ticker.getAsLong();
    }

    public void setStretch(Query query) throws SQLException {
        query.set("stretch", STRETCH);
    }

    public void setDue(Query query, int count) throws SQLException {
        binding.due(setTenth(query, count, dueClaims++), due, dueSequence);
    }

    /**
     * What bulk is left of a batch; of a small one, now and then. If the bytes do not suffice for all that is picked, bulk
     * comes last, but in one claim of ten first: large bulk items would otherwise leave no room for urgent ones, or urgent
     * ones none for bulk.
     */
    private static Query setTenth(Query query, int count, int claims) throws SQLException {
        return query.set("tenth", (count + claims % 10) / 10).set("bulk_first", claims % 10 == 9);
    }

    /** Where the stretch of each band ends that a claim with a topic filter looked at. */
    public void walked(ResultSet row) throws SQLException {
        for (int band = 0; band < BANDS.length; band++) {
            stretchEnd[band] = row.getObject(BANDS[band] + "_end", Long.class);
        }
    }

    /** A row was taken: it and what is before it has passed. */
    public void took(ResultSet row) throws SQLException {
        int band = row.getInt("priority");
        long sequence = row.getLong("sequence");
        Instant dueOn = Timestamps.readOptional(row, "due_on");
        if (dueOn == null) {
            ready[band] = Math.max(ready[band], sequence);
        } else if (dueOn.isAfter(due[band])) {
            due[band] = dueOn;
            dueSequence[band] = sequence;
        } else if (dueOn.equals(due[band])) {
            dueSequence[band] = Math.max(dueSequence[band], sequence);
        }
    }

    /**
     * The claim on the ready road is over.
     *
     * @param hadRoom whether it would have taken more, of rows and of bytes: then all of the stretch has passed
     * @return whether it saw all there is
     */
    public boolean end(boolean hadRoom) {
        long now = ticker.getAsLong();
        boolean walkedAll = true;
        for (int band = 0; band < BANDS.length; band++) {
            Long end = stretchEnd[band];
            walkedAll &= end == null;
            if (end != null && hadRoom) {
                ready[band] = Math.max(ready[band], end);
            }
        }
        if (!caughtUp) {
            sweepCost += now - asked;
        }
        if (walkedAll && !caughtUp) {
            caughtUp = true;
            sweptAt = now;
            for (int band = 0; hadRoom && band < BANDS.length; band++) {
                ready[band] = Math.max(ready[band], readyBefore[band]);
            }
        }
        return walkedAll;
    }

    /**
     * The claim on the waiting road is over; it always sees all there is, though it may not have had room for it.
     *
     * @param at when it claimed, by the clock of the database
     */
    public boolean endDue(boolean hadRoom, Instant at) {
        for (int band = 0; sweepsDue && hadRoom && band < BANDS.length; band++) {
            if (dueBefore[band].isAfter(due[band])) {
                due[band] = dueBefore[band];
                dueSequence[band] = Long.MIN_VALUE;
            }
        }
        sweepsDue = false;
        Instant latest = at.minus(SETTLING);
        for (int band = 0; band < BANDS.length; band++) {
            if (due[band].isAfter(latest)) {
                due[band] = latest;
                dueSequence[band] = Long.MIN_VALUE;
            }
        }
        return true;
    }
}
