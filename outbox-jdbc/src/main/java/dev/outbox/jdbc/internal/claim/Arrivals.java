package dev.outbox.jdbc.internal.claim;

import dev.outbox.Message;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what this process stores in one table, by queue: a queue that was empty may have something again if
 * its count has changed. What another process stores is not counted, unless it is announced. Thread-safe.
 */
public final class Arrivals {
    private static final class Count {
        private final AtomicLong number = new AtomicLong();
        private final AtomicBoolean uncommitted = new AtomicBoolean();

        void stored() {
            uncommitted.set(true);
            number.incrementAndGet();
        }

        void committed() {
            if (uncommitted.getAndSet(false)) {
                number.incrementAndGet();
            }
        }
    }

    private final Map<ClaimQueue, Count> counts = new EnumMap<>(
            Map.of(ClaimQueue.READY, new Count(), ClaimQueue.WAITING, new Count(), ClaimQueue.KEYS, new Count()));

    /** In a transaction that has not committed. */
    public void stored(Collection<Message> messages) {
        for (Message message : messages) {
            of(message.key() != null
                            ? ClaimQueue.KEYS
                            : message.due() != null || message.dueIn() != null ? ClaimQueue.WAITING : ClaimQueue.READY)
                    .stored();
        }
    }

    /** Something, on whatever queue. */
    public void storedAny() {
        counts.values().forEach(Count::stored);
    }

    /** A transaction has committed, and what it stored can be seen now. Which one is not known. */
    public void committed() {
        counts.values().forEach(Count::committed);
    }

    long on(ClaimQueue queue) {
        return of(queue).number.get();
    }

    private Count of(ClaimQueue queue) {
        return Objects.requireNonNull(counts.get(queue));
    }
}
