package dev.outbox.jdbc.internal;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * In which order one source asks its roads. Those that had something last time take turns. One that was empty
 * rests for some claims, but not for long, as long as others have something; if none has, all are asked, the one that
 * had something last before the others. A road for which this process has stored something does not rest. Not thread-safe.
 */
public final class Turns {
    /** How many claims an empty road is left out of. */
    private static final int REST = 7;

    /** Where claims are rare, an empty road is asked again after this long. */
    private static final Duration LONGEST_REST = Duration.ofMillis(500);

    public enum Road {
        READY,
        WAITING,
        KEYS
    }

    /** One claim on one road. */
    public interface Walk {
        Claimed on(Road road) throws SQLException;
    }

    /** Who has had its turn goes to the end. */
    private final List<Road> inTurn = new ArrayList<>(List.of(Road.values()));

    /** Who had something last is in front. */
    private final List<Road> recent = new ArrayList<>(List.of(Road.values()));

    private final Map<Road, Integer> resting = new EnumMap<>(Road.class);
    private final Map<Road, Long> emptyAt = new EnumMap<>(Road.class);
    private final Map<Road, Long> arrivedBefore = new EnumMap<>(Road.class);
    private final LongSupplier ticker;
    private final Arrivals arrivals;

    public Turns(LongSupplier ticker, Arrivals arrivals) {
        this.ticker = ticker;
        this.arrivals = arrivals;
    }

    /**
     * Asks road after road until one has something; more than one only if the first ones were empty. There may be more if a
     * road said so, or if one was neither asked nor rests.
     */
    public Claimed walk(Walk walk) throws SQLException {
        Claimed claimed = Claimed.nothing();
        boolean more = false;
        for (Road road : order()) {
            arrivedBefore.put(road, arrivals.on(road));
            try {
                claimed = walk.on(road);
            } catch (SQLException | RuntimeException e) {
                unfinished(road); // the others are not kept waiting
                throw e;
            }
            more |= claimed.more();
            if (!claimed.isEmpty()) {
                found(road);
                return claimed.more(more || inTurn.stream().anyMatch(other -> other != road && !rests(other)));
            }
            if (claimed.more()) {
                unfinished(road);
            } else {
                empty(road);
            }
        }
        return claimed.more(more);
    }

    List<Road> order() {
        List<Road> order = new ArrayList<>(inTurn);
        order.removeIf(this::rests);
        recent.stream().filter(this::rests).forEach(order::add);
        return order;
    }

    private boolean rests(Road road) {
        return resting.getOrDefault(road, 0) > 0
                && arrivals.on(road) == arrivedBefore.getOrDefault(road, 0L)
                && ticker.getAsLong() - emptyAt.getOrDefault(road, 0L) < LONGEST_REST.toNanos();
    }

    void found(Road road) {
        resting.replaceAll((other, claims) -> Math.max(0, claims - 1));
        resting.put(road, 0);
        inTurn.remove(road);
        inTurn.add(road);
        recent.remove(road);
        recent.add(0, road);
    }

    void empty(Road road) {
        resting.put(road, REST);
        emptyAt.put(road, ticker.getAsLong());
    }

    /** Nothing so far, but its end was not reached: it goes on when it has its next turn. */
    void unfinished(Road road) {
        resting.put(road, 0);
        inTurn.remove(road);
        inTurn.add(road);
    }
}
