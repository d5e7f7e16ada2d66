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
    /** Opens an inbox over the table with these settings; everything else is default. */
    Inbox open(InboxSettings settings) throws Exception;

    /** The table's database, with at least 20 connections. */
    DataSource dataSource();

    /** The name of an empty table in it with one text column {@code message_id}, not unique. */
    String effectsTable();

    /** Lets time pass: leases run out, items come due, records grow older. It returns at once and does not sleep. */
    void advance(Duration step) throws Exception;

    /** Waits until this many sessions wait for a lock that another session's transaction holds. */
    void awaitBlocked(int sessions) throws Exception;

    /**
     * Starts a JVM that processes the message {@code messageId} and halts at this point without any clean-up. That JVM has
     * to call {@link InboxCrash#run}.
     *
     * @return once it has ended, its exit code
     */
    int crash(InboxCrash at, String consumer, String messageId) throws Exception;

    /** What the inbox cannot do; the tests that need it are skipped. Default: nothing. */
    default Set<Feature> lacks() {
        return Set.of();
    }

    /** How many messages sixteen rivals send at once; a multiple of 50, smaller for a very slow store. Default: 10,000. */
    default int rivalMessages() {
        return 10_000;
    }

    /** Closes what the fixture opened. Called once, after the test. */
    @Override
    void close();
}
