package dev.outbox.testkit;

import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import java.util.List;

/**
 * The items that one source leased in several consecutive claims.
 *
 * @param all the claims in their order, including those that found nothing
 */
public record Claims(List<Claim> all) {
    public Claims {
        all = List.copyOf(all);
    }

    /** The leased items, in the order they came. */
    public List<WorkItem> items() {
        return all.stream().flatMap(claim -> claim.items().stream()).toList();
    }

    /** The ids of the leased items, in the order they came. */
    public List<String> ids() {
        return items().stream().map(WorkItem::id).toList();
    }

    /** The ids of the items that were found to be Dead. */
    public List<String> dead() {
        return all.stream()
                .flatMap(claim -> claim.dead().stream())
                .map(WorkItem::id)
                .toList();
    }

    /** The items whose lease had expired and which are Ready again. */
    public List<WorkItem> reclaimed() {
        return all.stream().flatMap(claim -> claim.reclaimed().stream()).toList();
    }

    /** The lease of every item, in the order the items came. */
    public List<Lease> leases() {
        return all.stream()
                .flatMap(claim -> claim.items().stream().map(claim::lease))
                .toList();
    }

    /**
     * The lease of this item from the last claim that returned it.
     *
     * @throws AssertionError if no claim returned it
     */
    public Lease lease(String itemId) {
        return leases().stream()
                .filter(lease -> lease.itemId().equals(itemId))
                .reduce((earlier, later) -> later)
                .orElseThrow(() -> new AssertionError("item " + itemId + " was not claimed; claimed were " + ids()));
    }
}
