package dev.outbox.jdbc.internal;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * In which order one source asks its roads. Those that had something last time take turns. One that was empty
 * rests for some claims, as long as others have something; if none has, all are asked, the one that had something
 * last before the others. Not thread-safe.
 */
public final class Turns {
    /** How many claims an empty road is left out of. */
    private static final int REST = 7;

    public enum Road {
        READY,
        WAITING,
        KEYS
    }

    /** Who has had its turn goes to the end. */
    private final List<Road> inTurn = new ArrayList<>(List.of(Road.values()));

    /** Who had something last is in front. */
    private final List<Road> recent = new ArrayList<>(List.of(Road.values()));

    private final Map<Road, Integer> resting = new EnumMap<>(Road.class);

    public List<Road> order() {
        List<Road> order = new ArrayList<>(inTurn);
        order.removeIf(this::rests);
        recent.stream().filter(this::rests).forEach(order::add);
        return order;
    }

    private boolean rests(Road road) {
        return resting.getOrDefault(road, 0) > 0;
    }

    public void found(Road road) {
        resting.replaceAll((other, claims) -> Math.max(0, claims - 1));
        resting.put(road, 0);
        inTurn.remove(road);
        inTurn.add(road);
        recent.remove(road);
        recent.add(0, road);
    }

    public void empty(Road road) {
        resting.put(road, REST);
    }

    /** Nothing so far, but its end was not reached: it goes on when it has its next turn. */
    public void unfinished(Road road) {
        resting.put(road, 0);
        inTurn.remove(road);
        inTurn.add(road);
    }
}
