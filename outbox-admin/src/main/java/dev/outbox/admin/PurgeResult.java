package dev.outbox.admin;

/**
 * What a purge removed, or would remove.
 *
 * @param dryRun whether nothing was removed
 * @param atLeast whether a dry run stopped counting at {@code count}
 */
public record PurgeResult(boolean dryRun, long count, boolean atLeast) {}
