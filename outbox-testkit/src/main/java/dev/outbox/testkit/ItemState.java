package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.internal.Require;
import org.jspecify.annotations.Nullable;

/**
 * What a store says about one work item when somebody looks.
 *
 * @param attempts the attempts counted so far
 * @param lastError what the last failed attempt left behind, or null
 */
public record ItemState(
        String id, Status status, int attempts, @Nullable String lastError) {
    public ItemState {
        Require.present("id", id);
        Require.present("status", status);
    }
}
