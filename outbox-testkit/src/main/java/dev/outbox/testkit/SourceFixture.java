package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One empty store under test, as {@link SourceContract} sees it: what producers, operators and the passing
 * of time do to it. The sources do the rest. Methods may throw anything; the test then fails.
 */
public interface SourceFixture extends AutoCloseable {
    /** A new source over the store, like that of another poller: with marks and timers of its own. */
    Source newSource() throws Exception;

    /**
     * Stores these messages in their order, so that every source can see them.
     *
     * @return the ids of their work items, in the same order
     */
    List<String> enqueue(List<Message> messages) throws Exception;

    /** Looks at one item without changing it; empty if there is no such item, or no more. */
    Optional<ItemState> find(String itemId) throws Exception;

    /**
     * Lets time pass: leases run out, items come due, and the timers of the sources go on. It does so at
     * once; nobody sleeps. A fixture that moves the times of rows back instead moves all of them.
     */
    void advance(Duration step) throws Exception;

    /** What an operator does to a Dead item: Ready, due now, its attempts forgotten, its age counted from now. */
    void requeue(String itemId) throws Exception;

    /**
     * Locks the rows of these items, as an open transaction of somebody else does.
     *
     * @return releases them when it is closed. Default: empty, for the store has no locks; tests that need them are skipped.
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

    /** The names of the pollers that the store notes as alive; empty if it notes none, ever. Default: empty. */
    default Optional<Set<String>> pollers() throws Exception {
        return Optional.empty();
    }

    /** What the store cannot do; the tests that need it are skipped. Default: nothing. */
    default Set<Feature> lacks() {
        return Set.of();
    }

    /** Closes what the fixture opened, its sources included. Called once, after the test. */
    @Override
    void close();
}
