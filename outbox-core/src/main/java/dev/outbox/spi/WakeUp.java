package dev.outbox.spi;

/**
 * Wakes pollers when there may be something to claim. Only a hint: a poller that is never woken finds
 * everything by its own idle polls.
 */
public interface WakeUp {
    /**
     * From now on runs this whenever something was enqueued. Thread-safe.
     *
     * @param wake returns at once
     * @return closing it ends the subscription
     */
    Subscription subscribe(Runnable wake);

    /** Ends when it is closed; closing it again does nothing. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
