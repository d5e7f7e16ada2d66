package dev.outbox;

import dev.outbox.internal.Require;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What an inbox knows about a message.
 *
 * @param topic the topic of a work item; null for a record of {@link Inbox#receive(java.sql.Connection, Incoming)}
 * @param status the status of a work item; a record of receive is Done, or Dead if it was given up
 * @param attempts how often a poller has claimed it; receipts are not attempts
 * @param receipts how often it came
 * @param firstSeen when it came for the first time, by the database's clock
 * @param lastSeen when it came last
 * @param processedOn when it became Done or Dead; null before
 * @param lastError the error of the last failed attempt, or the reason why it was given up; null if there is neither
 */
public record InboxRecord(
        String source,
        String messageId,
        @Nullable String topic,
        Status status,
        int attempts,
        int receipts,
        Instant firstSeen,
        Instant lastSeen,
        @Nullable Instant processedOn,
        @Nullable String lastError) {
    public InboxRecord {
        Require.present("source", source);
        Require.present("messageId", messageId);
        Require.present("status", status);
        Require.present("firstSeen", firstSeen);
        Require.present("lastSeen", lastSeen);
    }
}
