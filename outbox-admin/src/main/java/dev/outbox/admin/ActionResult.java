package dev.outbox.admin;

import java.util.List;

/**
 * What an action changed, or would change.
 *
 * @param dryRun whether nothing was changed
 * @param count how many items were changed, or would be
 * @param atLeast whether a dry run stopped counting at {@code count}
 * @param first the first of these items, as they were before
 * @param skipped the first items that were not changed, and why
 * @param skippedCount how many items were not changed
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
