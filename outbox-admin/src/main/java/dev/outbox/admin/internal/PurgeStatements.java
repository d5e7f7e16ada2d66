package dev.outbox.admin.internal;

/** Statements about what has been Done for longer than {@code older_than}. */
public interface PurgeStatements {
    /** Removes up to {@code batch}. */
    String purge();

    /** Counts up to {@code most}. */
    String count();
}
