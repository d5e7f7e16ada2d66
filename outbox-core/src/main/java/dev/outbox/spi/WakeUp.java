package dev.outbox.spi;

/**
 * Wakes pollers when there may be something to claim. A wake-up is only a hint: a poller that is never woken finds
 * everything by its own idle polls.
 */
public interface WakeUp {
    /**
     * Runs the callback whenever something was enqueued, from now on. Thread-safe.
     *
     * @param wake the callback; it returns at once
     * @return the subscription, which ends when it is closed
     */
    Subscription subscribe(Runnable wake);

    /** Ends when it is closed; closing it again does nothing. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
