package dev.outbox.jdbc.internal;

import dev.outbox.Message;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what this process stores in one table, by road: a road that was empty may have something again if
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

    private final Map<Turns.Road, Count> counts = new EnumMap<>(
            Map.of(Turns.Road.READY, new Count(), Turns.Road.WAITING, new Count(), Turns.Road.KEYS, new Count()));

    /** In a transaction that has not committed. */
    void stored(Collection<Message> messages) {
        for (Message message : messages) {
            of(message.key() != null
                            ? Turns.Road.KEYS
                            : message.due() != null || message.dueIn() != null ? Turns.Road.WAITING : Turns.Road.READY)
                    .stored();
        }
    }

    /** Something, on whatever road. */
    void storedAny() {
        counts.values().forEach(Count::stored);
    }

    /** A transaction has committed, and what it stored can be seen now. Which one is not known. */
    void committed() {
        counts.values().forEach(Count::committed);
    }

    long on(Turns.Road road) {
        return of(road).number.get();
    }

    private Count of(Turns.Road road) {
        return Objects.requireNonNull(counts.get(road));
    }
}
