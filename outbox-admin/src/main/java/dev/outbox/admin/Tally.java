package dev.outbox.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Adds up what an action did to one batch after the other. */
final class Tally {
    /** How many items of each sort a result shows. */
    static final int SHOWN = 20;

    private final boolean dryRun;
    private final List<Item> first = new ArrayList<>();
    private final List<ActionResult.Skipped> skipped = new ArrayList<>();
    private long count;
    private long skippedCount;
    private boolean atLeast;

    Tally(boolean dryRun) {
        this.dryRun = dryRun;
    }

    long count() {
        return count;
    }

    void count(long more, long moreSkipped, boolean perhapsMore) {
        count += more;
        skippedCount += moreSkipped;
        atLeast |= perhapsMore;
    }

    void add(List<Item> batch, Set<ItemRef> changed, Action action) {
        for (Item item : batch) {
            if (changed.contains(item.ref())) {
                count++;
                show(item);
            } else {
                String obstacle = action.obstacle(item);
                skip(item.ref(), obstacle == null ? "another transaction has locked or changed it" : obstacle);
            }
        }
    }

    void show(Item item) {
        if (first.size() < SHOWN) {
            first.add(item);
        }
    }

    void skip(ItemRef ref, String reason) {
        skippedCount++;
        if (skipped.size() < SHOWN) {
            skipped.add(new ActionResult.Skipped(ref, reason));
        }
    }

    ActionResult result() {
        return new ActionResult(dryRun, count, atLeast, first, skipped, skippedCount);
    }
}
