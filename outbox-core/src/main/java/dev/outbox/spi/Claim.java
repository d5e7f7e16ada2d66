package dev.outbox.spi;

import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.time.Instant;
import java.util.List;

/**
 * What a claim leased.
 *
 * @param ownerToken a fresh token, shared by the items of this claim
 * @param at when the items were claimed, by the source's clock
 * @param items the leased items, by sequence; items of one key are consecutive unfinished items of it
 * @param dead items that had an expired lease and no attempt left, or that cannot be read: they are Dead now
 * @param reclaimed items whose lease had expired and which are Ready again; without their payloads
 * @param more whether another claim may find items right now; if not, the poller waits
 */
public record Claim(
        String ownerToken,
        Instant at,
        List<WorkItem> items,
        List<WorkItem> dead,
        List<WorkItem> reclaimed,
        boolean more) {
    public Claim {
        Require.present("ownerToken", ownerToken);
        Require.present("at", at);
        items = List.copyOf(items);
        dead = List.copyOf(dead);
        reclaimed = List.copyOf(reclaimed);
    }

    /** A claim that reclaimed nothing. */
    public Claim(String ownerToken, Instant at, List<WorkItem> items, List<WorkItem> dead, boolean more) {
        this(ownerToken, at, items, dead, List.of(), more);
    }

    public Lease lease(WorkItem item) {
        return new Lease(item.id(), ownerToken);
    }
}
