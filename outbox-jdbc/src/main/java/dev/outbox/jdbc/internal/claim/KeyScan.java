package dev.outbox.jdbc.internal.claim;

import dev.outbox.WorkItem;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where one source looks for keys to claim, and how far it has come.
 *
 * <p><b>Places.</b> Rows that arrived after a mark, by sequence; rows whose time has come after a mark, by due time; and keys
 * that this source has {@linkplain FreedKeys freed}. They show everything that happens in the ordinary way, at a cost that does
 * not depend on how many keys wait. They take turns in being first, so that none keeps the others waiting; freed keys, which
 * have just been served, every third time.
 *
 * <p><b>Sweeps.</b> The rest lies below the marks: rows that committed late, keys that another source has freed, keys that an
 * operator has unblocked. Sweeps from the start to the marks find it, in pieces that are short enough: see {@link QueueMarks}.
 * A sweep passes rows that could be claimed if their keys were free. Keys that wait for a time are not among them.
 *
 * <p><b>How many.</b> As many keys as fill the batch: see {@link RunLengths}.
 *
 * <p>Not thread-safe.
 */
public final class KeyScan {
    /** How many rows of each kind one statement looks at; more where many in a row can not be claimed. */
    private static final int STRETCH = 1_000;

    private static final int LONGEST_STRETCH = 16_000;

    /** A transaction that commits within this time after it drew its sequence is found by the marks. */
    private static final long COMMITTING = Duration.ofMillis(500).toNanos();

    /** Where a claim can look. */
    public enum Place {
        FREED,
        ARRIVED,
        DUE
    }

    /** One statement. */
    public interface Statement {
        ClaimedRows run() throws SQLException;
    }

    private final LongSupplier ticker;
    private final FreedKeys freed;
    private final Predicate<String> topics;
    private final QueueMarks arrived;

    /** Due times have no bands: it uses the first one. */
    private final QueueMarks due;

    private KeyLook look =
            new KeyLook(List.of(), List.of(), Set.of(), List.of(), List.of(), 0, Instant.MIN, 0, Instant.MAX, 1, 1, 1);
    private int count;
    private int claims;
    private long begun;

    /** How many rows were taken of each key. */
    private final Map<String, Integer> keys = new HashMap<>();

    private int rows;

    private final RunLengths runs = new RunLengths();

    /** How many keys the bound in bytes has room for. */
    private int mostHeads = Integer.MAX_VALUE;

    /** Where the marks of what has arrived were at least {@link #COMMITTING} ago. */
    private long[] arrivedBefore = new long[QueueMarks.BANDS];

    private long[] arrivedLately = new long[QueueMarks.BANDS];
    private long lately;
    private boolean catchingUp = true;

    /** Whether the last statement found as many heads as it could take. */
    private boolean full;

    private int stretch = STRETCH;

    /** @param topics those that its claims are for */
    public KeyScan(LongSupplier ticker, FreedKeys freed, Predicate<String> topics) {
        this.ticker = ticker;
        this.freed = freed;
        this.topics = topics;
        this.arrived = new QueueMarks(ticker, LowWaterMarks.SHORTEST_PIECE);
        this.due = new QueueMarks(ticker, LowWaterMarks.SHORTEST_TIME.toNanos() / LowWaterMarks.TICK);
        this.lately = ticker.getAsLong();
        Arrays.fill(arrivedBefore, Long.MIN_VALUE);
        Arrays.fill(arrivedLately, Long.MIN_VALUE);
    }

    /** A claim for the same topics, and maybe for others, has come so far: so has this one. */
    void startFrom(KeyScan other) {
        arrived.startFrom(other.arrived);
        due.startFrom(other.due);
        forgetBefore();
    }

    /** The next sweep is due when that of the other one is. */
    void sweepWith(KeyScan other) {
        arrived.sweepWith(other.arrived);
        due.sweepWith(other.due);
    }

    /** A claim: a few pieces of a sweep, if it is time for them; if these find nothing, from the marks. */
    public ClaimedRows walk(Statement statement) throws SQLException {
        ClaimedRows claimed;
        do {
            arrived.begin();
            due.begin();
            try {
                claimed = statement.run();
            } catch (SQLException | RuntimeException e) {
                arrived.failed();
                due.failed();
                forgetBefore(); // the next claim begins at the marks
                throw e;
            }
        } while (claimed.isEmpty() && !full && (arrived.goesOn() || due.goesOn()));
        return claimed;
    }

    /** A statement of a claim of so many items begins. */
    public KeyLook look(int count) {
        begun = ticker.getAsLong();
        claims++;
        keys.clear();
        rows = 0;
        this.count = count;
        int heads = Math.min(mostHeads, runs.keys(count));
        List<FreedKeys.Hint> hints = freed.next(heads, topics, begun);
        Set<String> known = freed.known(begun);
        Position dueFrom = due.from()[0];
        look = new KeyLook(
                places(!hints.isEmpty()),
                hints,
                known,
                arrivedFrom(),
                Arrays.stream(arrived.to()).boxed().toList(),
                firstBand(),
                LowWaterMarks.time(dueFrom.at()),
                dueFrom.tie(),
                LowWaterMarks.time(due.to()[0]),
                stretch,
                heads,
                runs.longest(count));
        return look;
    }

    private List<Place> places(boolean hints) {
        List<Place> places = new ArrayList<>(List.of(Place.ARRIVED, Place.DUE));
        Collections.rotate(places, claims);
        if (hints) {
            places.add(claims % 3 == 0 ? 0 : 2, Place.FREED);
        }
        return places;
    }

    /** Where a claim is cut after its first keys, no priority must always come first. */
    private int firstBand() {
        return BandShares.bulkIsFirst(claims) ? 2 : BandShares.normalIsFirst(claims) ? 1 : 0;
    }

    /** Beyond the marks also what a transaction has drawn a little before and commits now. */
    private List<Long> arrivedFrom() {
        Position[] from = arrived.from();
        long[] upTo = arrived.to();
        List<Long> after = new ArrayList<>();
        for (int band = 0; band < QueueMarks.BANDS; band++) {
            boolean beyondMarks = upTo[band] == Long.MAX_VALUE && !catchingUp;
            after.add(beyondMarks ? Math.min(from[band].at(), arrivedBefore[band]) : from[band].at());
        }
        return after;
    }

    /** A row of this key was taken. */
    public void took(String key, int priority, long sequence, @Nullable Instant dueOn) {
        rows++;
        keys.merge(key, 1, Integer::sum);
        if (dueOn == null) {
            arrived.touched(priority, sequence);
        } else {
            due.touched(0, LowWaterMarks.ticks(dueOn));
        }
    }

    /**
     * The statement is over.
     *
     * @param items what it took, by sequence
     * @param cut whether the bound in bytes ended it: then keys that it has not taken must be found again
     * @param leftRows whether the batch had no room for all rows of the keys it has taken
     * @param at when it claimed, by the clock of the database
     * @param until when the leases end, by the clock of this process
     * @return whether another claim right now may find something
     */
    public boolean end(KeysSeen seen, List<WorkItem> items, boolean cut, boolean leftRows, Instant at, long until) {
        boolean allFreed = !cut && (!seen.full() || look.places().get(0) == Place.FREED);
        long now = ticker.getAsLong();
        freed.looked(look.freed(), keys.keySet(), allFreed, now, now - begun);
        boolean leftSome = cut || leftRows;
        int longest = Math.max(look.longestRun(), count / Math.max(1, seen.heads()));
        Set<String> alone = new HashSet<>();
        items.stream().filter(item -> item.key() != null && item.attempt() > 1).forEach(item -> alone.add(item.key()));
        freed.claimed(items, key -> leftSome || alone.contains(key) || keys.getOrDefault(key, 0) >= longest, until);
        freed.passedBy(passedBy(seen, items));
        full = seen.full();
        runs.claimed(count, full && !cut, keys.size(), rows);
        boolean leftKeys = cut && keys.size() < seen.heads();
        mostHeads = leftKeys ? Math.max(1, keys.size()) : (int) Math.min(Integer.MAX_VALUE, 2L * mostHeads);
        boolean hadRoom = !cut && !full;
        boolean allArrived = endArrived(seen, leftKeys, hadRoom);
        boolean all = endDue(seen, leftKeys, hadRoom, at) && allArrived;
        stretch = all || !keys.isEmpty() ? STRETCH : Math.min(4 * stretch, LONGEST_STRETCH);
        return cut
                || seen.full()
                || !all
                || !alone.isEmpty()
                || keys.values().stream().anyMatch(taken -> taken >= longest)
                || freed.areThere(topics);
    }

    /** Known keys of which it saw rows; and those of which it could not read what it took. */
    private Set<String> passedBy(KeysSeen seen, List<WorkItem> items) {
        Set<String> passedBy = new HashSet<>(seen.passedBy());
        look.freed().forEach(hint -> passedBy.remove(hint.key()));
        Set<String> unreadable = new HashSet<>(keys.keySet());
        items.forEach(item -> unreadable.remove(item.key()));
        passedBy.addAll(unreadable);
        return passedBy;
    }

    /** @return whether it saw everything after the marks */
    private boolean endArrived(KeysSeen seen, boolean leftKeys, boolean hadRoom) {
        boolean beyondMarks = arrived.to()[0] == Long.MAX_VALUE;
        @Nullable Position[] stretches = new Position[QueueMarks.BANDS];
        for (int band = 0; !leftKeys && band < seen.arrivedTo().size(); band++) {
            Long to = seen.arrivedTo().get(band);
            if (to != null && hadRoom && Boolean.TRUE.equals(seen.arrivedMore().get(band))) {
                stretches[band] = Position.after(to);
            } else if (to != null) {
                arrived.pass(band, Position.after(to));
            }
        }
        boolean all = arrived.end(hadRoom, stretches);
        if (beyondMarks && !leftKeys && !seen.arrivedTo().isEmpty()) {
            keepBefore(!hadRoom || !all);
        }
        return all;
    }

    /** A backlog is not walked twice: what commits late in it is found by a sweep. */
    private void keepBefore(boolean backlog) {
        catchingUp = backlog;
        if (backlog || look.stretch() > STRETCH) {
            forgetBefore();
        } else if (begun - lately >= COMMITTING) {
            lately = begun;
            arrivedBefore = arrivedLately;
            arrivedLately = marks();
        }
    }

    private void forgetBefore() {
        arrivedBefore = marks();
        arrivedLately = marks();
        lately = ticker.getAsLong();
    }

    private long[] marks() {
        return Arrays.stream(arrived.marks()).mapToLong(Position::at).toArray();
    }

    /** @return whether it saw everything after the marks */
    private boolean endDue(KeysSeen seen, boolean leftKeys, boolean hadRoom, Instant at) {
        @Nullable Position[] stretches = new Position[QueueMarks.BANDS];
        Instant to = seen.dueTo();
        if (to != null && !leftKeys) {
            Position position = new Position(LowWaterMarks.ticks(to), seen.dueSequenceTo());
            if (hadRoom && seen.dueMore()) {
                stretches[0] = position;
            } else {
                due.pass(0, position);
            }
        }
        boolean all = due.end(hadRoom, stretches);
        due.limit(new Position(LowWaterMarks.ticks(at.minus(LowWaterMarks.SETTLING)), Long.MIN_VALUE));
        return all;
    }
}
