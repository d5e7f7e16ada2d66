package dev.outbox;

import dev.outbox.delivery.PollerBuilder;
import dev.outbox.spi.Source;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * What an {@link Outbox} and an {@link Inbox} have in common: a table of work items that are enqueued in the
 * caller's transaction and delivered by pollers. Thread-safe.
 */
public interface WorkQueue {
    /**
     * Runs the work in a transaction of its own on this data source, commits it and, if it enqueued something, wakes the
     * pollers. If the work throws, the transaction is rolled back and the exception is rethrown unchanged. The
     * connection is returned in its original auto-commit mode.
     *
     * <p>Running the work again after a failure is safe if {@link OutboxException#isRetryable()} says so. After an {@link
     * UnknownCommitException} it is safe only if the work can be repeated: give the message an id of your own, and your
     * rows a key that refuses the second copy.
     *
     * @throws UnknownCommitException if the connection was lost during the commit, which may have succeeded
     * @throws OutboxException if the transaction could not be opened or committed
     */
    default <T, X extends Exception> T transaction(DataSource dataSource, TransactionWork<T, X> work) throws X {
        return OwnTransaction.run(waking(dataSource), work);
    }

    /**
     * A data source whose connections wake the pollers after each commit of a transaction that enqueued
     * something: for code that keeps its own transactions on plain connections.
     */
    DataSource waking(DataSource dataSource);

    /** Makes the pollers of this table look for items now: call it after a commit that enqueued something. */
    void wakeUp();

    /** The builder of a poller over this table; it still needs a destination. */
    PollerBuilder poller();

    /** A new source over this table, for one poller or a loop of your own. */
    Source source();

    /**
     * Removes Done items that were finished longer ago than this, in batches. After each batch it rests for nine times as long
     * as the batch took. Pollers purge by themselves with the configured retention; call this to purge at once. Interrupting
     * the thread stops it after the batch under way; the interrupt status stays set.
     *
     * @return how many were removed
     */
    long purge(Duration olderThan);
}
