package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.internal.Require;
import org.jspecify.annotations.Nullable;

/**
 * The state of one work item at the time when the test reads it.
 *
 * @param attempts the attempts counted so far
 * @param lastError the error of the last failed attempt, or null
 */
public record ItemState(
        String id, Status status, int attempts, @Nullable String lastError) {
    public ItemState {
        Require.present("id", id);
        Require.present("status", status);
    }
}
