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
 * had something last before the others. Not thread-safe.
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
    private final LongSupplier ticker;

    public Turns(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** Asks road after road until one has something; more than one only if the first ones were empty. */
    public Claimed walk(Walk walk) throws SQLException {
        Claimed claimed = Claimed.nothing();
        boolean more = false;
        for (Road road : order()) {
            try {
                claimed = walk.on(road);
            } catch (SQLException | RuntimeException e) {
                unfinished(road); // the others are not kept waiting
                throw e;
            }
            more |= claimed.more();
            if (!claimed.isEmpty()) {
                found(road);
                return claimed;
            }
            if (claimed.more()) {
                unfinished(road);
            } else {
                empty(road);
            }
        }
        return new Claimed(claimed.ownerToken(), claimed.at(), List.of(), List.of(), more);
    }

    List<Road> order() {
        List<Road> order = new ArrayList<>(inTurn);
        order.removeIf(this::rests);
        recent.stream().filter(this::rests).forEach(order::add);
        return order;
    }

    private boolean rests(Road road) {
        return resting.getOrDefault(road, 0) > 0
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
