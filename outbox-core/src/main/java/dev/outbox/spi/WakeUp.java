package dev.outbox.spi;

/**
 * Wakes pollers when there may be something to claim. Only a hint: a poller that is never woken finds
 * everything by its own idle polls.
 */
public interface WakeUp {
    /**
     * From now on this is run whenever something was enqueued; it returns at once. Thread-safe.
     *
     * @return ends it
     */
    Subscription subscribe(Runnable wake);

    /** Ends by closing, any number of times. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
