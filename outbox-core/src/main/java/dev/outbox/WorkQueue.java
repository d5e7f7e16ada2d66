package dev.outbox;

import dev.outbox.delivery.PollerBuilder;
import dev.outbox.spi.Source;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * What an {@link Outbox} and an {@link Inbox} have in common: a table of work items that are enqueued in the
 * caller's transaction and worked off by pollers. Thread-safe.
 */
public interface WorkQueue {
    /**
     * Runs the work in a transaction of its own on this data source: commits it and, if it enqueued something,
     * wakes the pollers; or rolls back if the work throws, and throws that on. The connection goes back as it
     * came.
     *
     * <p>To run it again after a failure is safe if {@link OutboxException#isRetryable()} says so. After an {@link
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

    /** Has the pollers of this table look now: call it after a commit that enqueued something. */
    void wakeUp();

    /** A poller over this table, still to be given a destination. */
    PollerBuilder poller();

    /** A new source over this table, for one poller or a loop of one's own. */
    Source source();

    /**
     * Removes Done items that were finished longer ago than this, in batches, with rests of nine times as long
     * in between. Pollers do it by themselves with the configured retention; this is for people who want it now.
     *
     * @return how many were removed; fewer than there are if the thread is interrupted, which it then still is
     */
    long purge(Duration olderThan);
}
