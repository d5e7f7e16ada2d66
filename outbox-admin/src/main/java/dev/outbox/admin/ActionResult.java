package dev.outbox.admin;

import java.util.List;

/**
 * What an action did, or would do.
 *
 * @param dryRun whether nothing was changed
 * @param count how many items were changed, or would be
 * @param atLeast whether a dry run stopped counting there
 * @param first the first of them, as they were
 * @param skipped the first of those that were not, and why
 * @param skippedCount how many were not
 */
public record ActionResult(
        boolean dryRun, long count, boolean atLeast, List<Item> first, List<Skipped> skipped, long skippedCount) {
    /** An item that was left as it is. */
    public record Skipped(ItemRef ref, String reason) {}

    public ActionResult {
        first = List.copyOf(first);
        skipped = List.copyOf(skipped);
    }
}
