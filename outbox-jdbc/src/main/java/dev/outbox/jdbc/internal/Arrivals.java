package dev.outbox.jdbc.internal;

import dev.outbox.Message;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what this process stores in one table, with and without a key: a road that was empty may have something again if
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

    private final Count keyed = new Count();
    private final Count unkeyed = new Count();

    /** In a transaction that has not committed. */
    void stored(Collection<Message> messages) {
        for (Message message : messages) {
            (message.key() == null ? unkeyed : keyed).stored();
        }
    }

    /** Something, with or without a key. */
    void storedAny() {
        keyed.stored();
        unkeyed.stored();
    }

    /** A transaction has committed, and what it stored can be seen now. Which one is not known. */
    void committed() {
        keyed.committed();
        unkeyed.committed();
    }

    long on(Turns.Road road) {
        return (road == Turns.Road.KEYS ? keyed : unkeyed).number.get();
    }
}
