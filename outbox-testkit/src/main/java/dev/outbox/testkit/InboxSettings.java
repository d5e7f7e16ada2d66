package dev.outbox.testkit;

import dev.outbox.OnConflict;
import dev.outbox.event.OutboxListener;
import java.time.Duration;

/** The settings with which {@link InboxContract} opens an inbox. */
public record InboxSettings(String consumer, OnConflict onConflict, Duration lockTimeout, OutboxListener listener) {
    /** Settings with defaults. */
    public static InboxSettings of(String consumer) {
        return new InboxSettings(consumer, OnConflict.THROW, Duration.ofSeconds(10), event -> {});
    }

    /** The same with this. */
    public InboxSettings onConflict(OnConflict onConflict) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }

    /** The same with this. */
    public InboxSettings lockTimeout(Duration lockTimeout) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }

    /** The same with this. */
    public InboxSettings listener(OutboxListener listener) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }
}
