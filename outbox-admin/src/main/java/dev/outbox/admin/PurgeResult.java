package dev.outbox.admin;

/**
 * What a purge removed, or would remove.
 *
 * @param dryRun whether nothing was removed
 * @param atLeast whether a dry run stopped counting there
 */
public record PurgeResult(boolean dryRun, long count, boolean atLeast) {}
