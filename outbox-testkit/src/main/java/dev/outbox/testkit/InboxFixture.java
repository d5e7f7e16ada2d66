package dev.outbox.testkit;

import dev.outbox.Inbox;
import java.time.Duration;
import java.util.Set;
import javax.sql.DataSource;

/**
 * One empty inbox table under test, as {@link InboxContract} sees it. Methods may throw anything; the test then
 * fails.
 */
public interface InboxFixture extends AutoCloseable {
    /** An inbox over the table, as a consumer with these settings builds it; all else is default. */
    Inbox open(InboxSettings settings) throws Exception;

    /** The table's database, with at least 20 connections. */
    DataSource dataSource();

    /** The name of an empty table in it with one text column {@code message_id}, not unique. */
    String effectsTable();

    /** Lets time pass: leases run out, items come due, records grow older. It does so at once; nobody sleeps. */
    void advance(Duration step) throws Exception;

    /** Waits until so many sessions wait for another one's transaction. */
    void awaitBlocked(int sessions) throws Exception;

    /**
     * Has a JVM of its own do this to the message {@code messageId} and end without any clean-up, at this point.
     * {@link InboxCrash#run} is what that JVM has to run.
     *
     * @return once it has ended, its exit code
     */
    int crash(InboxCrash at, String consumer, String messageId) throws Exception;

    /** What the inbox cannot do; the tests that need it are skipped. Default: nothing. */
    default Set<Feature> lacks() {
        return Set.of();
    }

    /** How many messages sixteen rivals send at once, a multiple of 50; fewer for a very slow store. Default: 10,000. */
    default int rivalMessages() {
        return 10_000;
    }

    /** Closes what the fixture opened. Called once, after the test. */
    @Override
    void close();
}
