package dev.outbox.jdbc.internal.claim;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * In which order one source asks its queues. Those that had something last time take turns. One that was empty
 * rests for some claims, but not for long, as long as others have something; if none has, all are asked, the one that
 * had something last before the others. A queue for which this process has stored something does not rest. Not thread-safe.
 */
public final class QueueTurns {
    /** How many claims an empty queue is left out of. */
    private static final int REST = 7;

    /** Where claims are rare, an empty queue is asked again after this long. */
    private static final Duration LONGEST_REST = Duration.ofMillis(500);

    /** One claim on one queue. */
    public interface Walk {
        ClaimedRows on(ClaimQueue queue) throws SQLException;
    }

    /** Who has had its turn goes to the end. */
    private final List<ClaimQueue> inTurn = new ArrayList<>(List.of(ClaimQueue.values()));

    /** Who had something last is in front. */
    private final List<ClaimQueue> recent = new ArrayList<>(List.of(ClaimQueue.values()));

    private final Map<ClaimQueue, Integer> resting = new EnumMap<>(ClaimQueue.class);
    private final Map<ClaimQueue, Long> emptyAt = new EnumMap<>(ClaimQueue.class);
    private final Map<ClaimQueue, Long> arrivedBefore = new EnumMap<>(ClaimQueue.class);
    private final LongSupplier ticker;
    private final Arrivals arrivals;

    public QueueTurns(LongSupplier ticker, Arrivals arrivals) {
        this.ticker = ticker;
        this.arrivals = arrivals;
    }

    /**
     * Asks queue after queue until one has something; more than one only if the first ones were empty. There may be more if a
     * queue said so, or if one was neither asked nor rests.
     */
    public ClaimedRows walk(Walk walk) throws SQLException {
        ClaimedRows claimed = ClaimedRows.nothing();
        boolean more = false;
        for (ClaimQueue queue : order()) {
            arrivedBefore.put(queue, arrivals.on(queue));
            try {
                claimed = walk.on(queue);
            } catch (SQLException | RuntimeException e) {
                unfinished(queue); // the others are not kept waiting
                throw e;
            }
            more |= claimed.more();
            if (!claimed.isEmpty()) {
                found(queue);
                return claimed.more(more || inTurn.stream().anyMatch(other -> other != queue && !rests(other)));
            }
            if (claimed.more()) {
                unfinished(queue);
            } else {
                empty(queue);
            }
        }
        return claimed.more(more);
    }

    List<ClaimQueue> order() {
        List<ClaimQueue> order = new ArrayList<>(inTurn);
        order.removeIf(this::rests);
        recent.stream().filter(this::rests).forEach(order::add);
        return order;
    }

    private boolean rests(ClaimQueue queue) {
        return resting.getOrDefault(queue, 0) > 0
                && arrivals.on(queue) == arrivedBefore.getOrDefault(queue, 0L)
                && ticker.getAsLong() - emptyAt.getOrDefault(queue, 0L) < LONGEST_REST.toNanos();
    }

    void found(ClaimQueue queue) {
        resting.replaceAll((other, claims) -> Math.max(0, claims - 1));
        resting.put(queue, 0);
        inTurn.remove(queue);
        inTurn.add(queue);
        recent.remove(queue);
        recent.add(0, queue);
    }

    void empty(ClaimQueue queue) {
        resting.put(queue, REST);
        emptyAt.put(queue, ticker.getAsLong());
    }

    /** Nothing so far, but its end was not reached: it goes on when it has its next turn. */
    void unfinished(ClaimQueue queue) {
        resting.put(queue, 0);
        inTurn.remove(queue);
        inTurn.add(queue);
    }
}
