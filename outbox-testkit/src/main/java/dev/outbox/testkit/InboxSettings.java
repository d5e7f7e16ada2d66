package dev.outbox.testkit;

import dev.outbox.OnConflict;
import dev.outbox.event.OutboxListener;
import java.time.Duration;

/** The settings with which {@link InboxContract} opens an inbox. */
public record InboxSettings(String consumer, OnConflict onConflict, Duration lockTimeout, OutboxListener listener) {
    /** The default settings for this consumer. */
    public static InboxSettings of(String consumer) {
        return new InboxSettings(consumer, OnConflict.THROW, Duration.ofSeconds(10), event -> {});
    }

    /** The same settings with this answer to a conflict. */
    public InboxSettings onConflict(OnConflict onConflict) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }

    /** The same settings with this lock timeout. */
    public InboxSettings lockTimeout(Duration lockTimeout) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }

    /** The same settings with this listener. */
    public InboxSettings listener(OutboxListener listener) {
        return new InboxSettings(consumer, onConflict, lockTimeout, listener);
    }
}
