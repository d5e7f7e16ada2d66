package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One empty store under test, as {@link SourceContract} sees it: the fixture does what producers and operators do, and
 * lets time pass; the store's sources do the rest. Methods may throw anything; the test then fails.
 */
public interface SourceFixture extends AutoCloseable {
    /** A new source over the store, like that of another poller, with its own marks and timers. */
    Source newSource() throws Exception;

    /**
     * Stores these messages in this order and commits them, so that every source sees them.
     *
     * @return the ids of their work items, in the same order
     */
    List<String> enqueue(List<Message> messages) throws Exception;

    /** Looks at one item without changing it; empty if there is no such item, or it has left the store. */
    Optional<ItemState> find(String itemId) throws Exception;

    /**
     * Lets time pass: leases run out, items come due, and the timers of the sources go on. It returns at once and does not
     * sleep. A fixture may move the times of rows back instead; then it moves all of them.
     */
    void advance(Duration step) throws Exception;

    /**
     * Requeues a Dead item, as an operator does: it is Ready and due now, its attempts are reset, and its age counts from
     * now.
     */
    void requeue(String itemId) throws Exception;

    /**
     * Locks the rows of these items, as the open transaction of another application does.
     *
     * @return a handle that releases the locks when it is closed. Default: empty, which means that the store has no locks
     *     and the tests that need them are skipped.
     */
    default Optional<AutoCloseable> lock(List<String> itemIds) throws Exception {
        return Optional.empty();
    }

    /** Whether a Done item stays in the store; false if it leaves. Default: true. */
    default boolean keepsDone() {
        return true;
    }

    /** How long Done items stay before a purge removes them; empty if the store is not purged. Default: empty. */
    default Optional<Duration> retention() {
        return Optional.empty();
    }

    /** The names of the pollers that the store lists as alive; empty if it never lists any. Default: empty. */
    default Optional<Set<String>> pollers() throws Exception {
        return Optional.empty();
    }

    /** What the store cannot do; the tests that need it are skipped. Default: nothing. */
    default Set<Feature> lacks() {
        return Set.of();
    }

    /** Closes what the fixture opened, including its sources. Called once, after the test. */
    @Override
    void close();
}
