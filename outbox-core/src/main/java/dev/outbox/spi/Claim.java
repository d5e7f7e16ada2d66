package dev.outbox.spi;

import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.time.Instant;
import java.util.List;

/**
 * The result of a claim.
 *
 * @param ownerToken a fresh token, shared by the items of this claim
 * @param at when the items were claimed, by the source's clock
 * @param items the leased items, by sequence; those of one key are consecutive unfinished items of that key
 * @param dead items that are Dead now: their lease expired with no attempt left, or they cannot be read
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
