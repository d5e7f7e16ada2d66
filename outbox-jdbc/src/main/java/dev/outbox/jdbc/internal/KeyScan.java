package dev.outbox.jdbc.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where one source looks for keys to claim, and how far it has come.
 *
 * <p><b>Places.</b> Keys that this source has {@linkplain FreedKeys freed}; rows that arrived after a mark, by sequence;
 * rows whose time has come after a mark, by due time; and the round over all unfinished keys. The first three show
 * everything that happens in the ordinary way, at a cost that does not depend on how many keys wait. The round finds the
 * rest: rows that committed late, below a mark; keys that another source has freed; keys that an operator has unblocked.
 * These take turns in being first, so that none keeps the others waiting. Freed keys come last, because they have just had
 * their turn; if the others leave them no room, the round comes to them.
 *
 * <p><b>The round.</b> A stretch of {@value #PROBES} keys goes with a claim once a second, or less often if it turns out
 * slow, so that it takes a twentieth of the time. While it finds keys that the other places did not, it goes with every
 * claim. It never makes an idle poller busy: what only the round finds waits up to a second, or an idle pause if that is
 * longer, per {@value #PROBES} unfinished keys.
 *
 * <p><b>How many.</b> Finding a key costs about as much as taking a row. So where keys have much waiting, a claim takes
 * fewer of them, though not fewer than {@value #FEWEST_KEYS}, and longer runs of each; where they have little, it takes
 * more keys: as many as fill the batch, by what the keys of the last claims had. A single key fills the batch alone.
 *
 * <p>Not thread-safe.
 */
public final class KeyScan {
    /** How many rows of each kind one claim looks at; more where many in a row can not be claimed. */
    private static final int STRETCH = 1_000;

    private static final int LONGEST_STRETCH = 16_000;

    /** How many keys one claim looks at on the round. */
    public static final int PROBES = 4_000;

    private static final int BANDS = 3;
    private static final int FEWEST_KEYS = 32;
    private static final int GROW_AFTER = 32;

    private static final long ROUND_EVERY = Duration.ofSeconds(1).toNanos();
    private static final long ROUND_AT_LEAST_EVERY = Duration.ofSeconds(30).toNanos();

    /** A transaction that commits within this time after it drew its sequence is found by the marks. */
    private static final long COMMITTING = Duration.ofMillis(500).toNanos();

    /** How far the mark of due rows stays behind the clock: a row is seen only when the settle that delayed it commits. */
    private static final Duration SETTLING = Duration.ofMillis(200);

    /** The order of the keys in the database. */
    private static final Comparator<String> BYTEWISE =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** Where a claim can look. */
    public enum Place {
        FREED,
        ARRIVED,
        DUE,
        ROUND
    }

    /**
     * What one claim looks at.
     *
     * @param places in this order
     * @param known what has arrived of these keys is passed by: they are freed or in flight
     * @param arrivedAfter by the code of the priority
     * @param stretch how many rows of each kind to look at
     * @param heads the most keys to take
     * @param longestRun the most rows to take of each, if there are that many keys
     */
    public record Look(
            List<Place> places,
            List<FreedKeys.Hint> freed,
            Set<String> known,
            List<Long> arrivedAfter,
            Instant dueAfter,
            long dueSequence,
            String roundAfter,
            int stretch,
            int heads,
            int longestRun) {}

    /**
     * How far it came.
     *
     * @param full whether it found as many heads as it could take, and so may not have looked at everything
     * @param heads how many it found
     * @param arrivedTo by the code of the priority; empty, or null at a priority, if it looked at nothing there
     * @param dueTo null if it looked at nothing there
     * @param roundTo the last key it looked at; empty at the end of the round
     * @param roundFound whether the round had heads that no other place had
     */
    public record Seen(
            boolean full,
            int heads,
            List<@Nullable Long> arrivedTo,
            boolean arrivedMore,
            @Nullable Instant dueTo,
            long dueSequenceTo,
            boolean dueMore,
            String roundTo,
            boolean roundFound) {}

    private final LongSupplier ticker;
    private final FreedKeys freed;

    private Look look = new Look(List.of(), List.of(), Set.of(), List.of(), Instant.MIN, 0, "", 1, 1, 1);
    private int count;
    private int claims;
    private long begun;

    /** How many rows were taken of each key. */
    private final Map<String, Integer> keys = new HashMap<>();

    private int rows;

    /** How many rows a key is expected to have waiting. */
    private double run = 1;

    /** How many claims to wait before longer runs are tried once more. */
    private int growsIn;

    private final Long[] arrived = new Long[BANDS];

    /** Where the mark was at least {@link #COMMITTING} ago. */
    private Long[] arrivedBefore = new Long[BANDS];

    private Long[] arrivedLately = new Long[BANDS];
    private long lately;
    private boolean catchingUp = true;
    private int stretch = STRETCH;

    private Instant due = Instant.MIN;
    private long dueSequence = Long.MIN_VALUE;

    private String round = "";
    private boolean roundFinds;
    private long roundAt;
    private long roundCost;

    public KeyScan(LongSupplier ticker, FreedKeys freed) {
        this.ticker = ticker;
        this.freed = freed;
        this.lately = ticker.getAsLong();
        this.roundAt = lately;
        Arrays.fill(arrived, Long.MIN_VALUE);
        Arrays.fill(arrivedBefore, Long.MIN_VALUE);
        Arrays.fill(arrivedLately, Long.MIN_VALUE);
    }

    /** A claim of so many items begins. */
    public Look look(int count) {
        begun = ticker.getAsLong();
        claims++;
        keys.clear();
        rows = 0;
        this.count = count;
        int heads = Math.max(1, (int) (count / run));
        List<FreedKeys.Hint> hints = freed.next(heads, begun);
        Set<String> known = freed.inFlight(begun);
        hints.forEach(hint -> known.add(hint.key()));
        look = new Look(
                places(!hints.isEmpty()),
                hints,
                known,
                List.of(catchingUp ? arrived : arrivedBefore),
                due,
                dueSequence,
                round,
                stretch,
                heads,
                (int) Math.ceil(Math.min(2 * run, longestRun(count))));
        return look;
    }

    private List<Place> places(boolean hints) {
        List<Place> places = new ArrayList<>(List.of(Place.ARRIVED, Place.DUE));
        if (roundIsDue()) {
            places.add(Place.ROUND);
        }
        Collections.rotate(places, claims);
        if (hints) {
            places.add(Place.FREED);
        }
        return places;
    }

    private boolean roundIsDue() {
        long pause = Math.min(ROUND_AT_LEAST_EVERY, Math.max(ROUND_EVERY, 20 * roundCost));
        return roundFinds || begun - roundAt >= pause;
    }

    private static double longestRun(int count) {
        return Math.max(1, count / FEWEST_KEYS);
    }

    /** A row of this key was taken. */
    public void took(String key) {
        rows++;
        keys.merge(key, 1, Integer::sum);
    }

    /**
     * The claim is over.
     *
     * @param cut whether the bound in bytes ended it: then what it has not taken must be found again
     * @param at when it claimed, by the clock of the database
     * @return whether another claim right now may find something
     */
    public boolean end(Seen seen, boolean cut, Instant at) {
        boolean all = !cut && (!seen.full() || keys.isEmpty()); // what was found may be locked by a stranger
        freed.looked(look.freed(), keys.keySet(), all);
        adaptRun(seen.full(), cut);
        if (!cut) {
            arrived(seen);
            due(seen, at);
        }
        if (look.places().contains(Place.ROUND)) {
            round(seen, cut);
        }
        boolean longer = keys.isEmpty() && (seen.arrivedMore() || seen.dueMore());
        stretch = longer ? Math.min(4 * stretch, LONGEST_STRETCH) : STRETCH;
        return cut
                || seen.full()
                || seen.arrivedMore()
                || seen.dueMore()
                || roundFinds
                || runsGoOn(seen)
                || freed.hasNew();
    }

    /** Whether there may be more behind what was taken of a key. */
    private boolean runsGoOn(Seen seen) {
        int longest = Math.max(look.longestRun(), count / Math.max(1, seen.heads()));
        return keys.values().stream().anyMatch(taken -> taken >= longest);
    }

    private void adaptRun(boolean full, boolean cut) {
        growsIn--;
        if (full && !cut && !keys.isEmpty()) {
            if (rows < count / 10 * 9) {
                run = Math.max(1, (double) rows / keys.size());
                growsIn = GROW_AFTER;
            } else if (growsIn <= 0) {
                run = Math.min(2 * run, longestRun(count));
            }
        }
    }

    private void arrived(Seen seen) {
        catchingUp = seen.full() || seen.arrivedMore();
        for (int band = 0; band < seen.arrivedTo().size(); band++) {
            Long to = seen.arrivedTo().get(band);
            if (to != null) {
                arrived[band] = Math.max(arrived[band], to);
            }
        }
        if (catchingUp
                || look.stretch() > STRETCH) { // a backlog is not walked twice; the round finds what commits late in it
            arrivedBefore = arrived.clone();
            arrivedLately = arrived.clone();
            lately = begun;
        } else if (begun - lately >= COMMITTING) {
            lately = begun;
            arrivedBefore = arrivedLately;
            arrivedLately = arrived.clone();
        }
    }

    private void due(Seen seen, Instant at) {
        Instant latest = at.minus(SETTLING);
        Instant to = seen.dueTo();
        if (to != null && to.isBefore(latest)) {
            due = to;
            dueSequence = seen.dueSequenceTo();
        } else if (to != null) {
            due = latest;
            dueSequence = Long.MIN_VALUE;
        }
    }

    private void round(Seen seen, boolean cut) {
        roundFinds = seen.roundFound() && !keys.isEmpty();
        roundAt = ticker.getAsLong();
        roundCost = roundAt - begun;
        if (!cut) {
            round = seen.roundTo();
        } else if (look.places().get(0) == Place.ROUND) {
            // its heads came first, so what was taken of the stretch is the beginning of it
            round = keys.keySet().stream()
                    .filter(key -> BYTEWISE.compare(key, round) > 0)
                    .filter(key -> seen.roundTo().isEmpty() || BYTEWISE.compare(key, seen.roundTo()) <= 0)
                    .max(BYTEWISE)
                    .orElse(round);
        }
    }
}
