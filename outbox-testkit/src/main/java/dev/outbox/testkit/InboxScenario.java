package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.Receipt;
import dev.outbox.Status;
import dev.outbox.TransactionWork;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.delivery.TransactionalDestination;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The steps that the tests of {@link InboxContract} share. Created anew for each test. */
public final class InboxScenario {
    /** The consumer of tests in which its name does not matter. */
    public static final String CONSUMER = "billing";

    /** The source of messages whose source does not matter. */
    public static final String SOURCE = "shop";

    /** The topic of messages whose topic does not matter. */
    public static final String TOPIC = "orders.placed";

    private final InboxFixture fixture;

    InboxScenario(InboxFixture fixture) {
        this.fixture = fixture;
    }

    /** A message to be received. */
    public static Incoming incoming(String messageId) {
        return Incoming.from(SOURCE, messageId).payload("payload of " + messageId);
    }

    /** A message to be enqueued. */
    public static Incoming item(String messageId) {
        return incoming(messageId).topic(TOPIC);
    }

    /** The inbox of the usual consumer, with defaults. */
    public Inbox inbox() {
        return inbox(InboxSettings.of(CONSUMER));
    }

    /** An inbox with these settings. */
    public Inbox inbox(InboxSettings settings) {
        try {
            return fixture.open(settings);
        } catch (Exception e) {
            throw new IllegalStateException("the fixture failed: " + e, e);
        }
    }

    /** Skips the test, by name, if the inbox cannot do this. */
    public void assumeHas(Feature feature) {
        assumeTrue(!fixture.lacks().contains(feature), () -> "the inbox lacks " + feature);
    }

    InboxFixture fixture() {
        return fixture;
    }

    /** Runs the work in a transaction of its own and commits; rolls back if the work throws. */
    public <T> T commit(TransactionWork<T, Exception> work) throws Exception {
        try (Connection tx = begin()) {
            try {
                T answer = work.in(tx);
                tx.commit();
                return answer;
            } finally {
                tx.rollback();
                tx.setAutoCommit(true);
            }
        }
    }

    /** A connection with a transaction open. The test closes it. */
    public Connection begin() throws SQLException {
        Connection tx = fixture.dataSource().getConnection();
        tx.setAutoCommit(false);
        return tx;
    }

    /** Receives the message in a transaction of its own and writes its effect if it is the first. */
    public Receipt receive(Inbox inbox, Incoming incoming) throws Exception {
        return commit(tx -> receive(tx, inbox, incoming));
    }

    /** Receives the message in this transaction and writes its effect if it is the first. */
    public Receipt receive(Connection tx, Inbox inbox, Incoming incoming) throws SQLException {
        return inbox.receive(tx, incoming, effect -> writeEffect(effect, incoming.messageId()));
    }

    /** Enqueues messages in a transaction of its own. */
    public List<Receipt> enqueue(Inbox inbox, Incoming... incoming) throws Exception {
        return commit(tx -> inbox.enqueueAll(tx, List.of(incoming)));
    }

    /** The effect of a message, as a consumer would write it. */
    public void writeEffect(Connection tx, String messageId) throws SQLException {
        writeEffect(tx, fixture.effectsTable(), messageId);
    }

    static void writeEffect(Connection tx, String table, String messageId) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO " + table + " (message_id) VALUES (?)")) {
            insert.setString(1, messageId);
            insert.executeUpdate();
        }
    }

    /** Handles items by writing their effect. */
    public TransactionalDestination writingEffects() {
        return (tx, item) -> writeEffect(tx, item.messageId());
    }

    /** The message ids of the committed effects, in no order. An effect that happened twice is listed twice. */
    public List<String> effects() throws SQLException {
        List<String> effects = new ArrayList<>();
        try (Connection connection = fixture.dataSource().getConnection();
                PreparedStatement select =
                        connection.prepareStatement("SELECT message_id FROM " + fixture.effectsTable());
                ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
                effects.add(rows.getString(1));
            }
        }
        return effects;
    }

    /** The builder of a poller whose retries are due at once; it still needs a destination. */
    public static PollerBuilder pollerOf(Inbox inbox) {
        return inbox.poller()
                .lease(SourceScenario.LEASE)
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(1), SourceScenario.MAX_ATTEMPTS));
    }

    /** Polls once. Returns how many items were claimed. */
    public int poll(Inbox inbox, TransactionalDestination destination) {
        try (Poller poller = pollerOf(inbox).inTransaction(destination).build()) {
            return poller.pollOnce();
        }
    }

    /** Polls until nothing is claimed any more: one claim may return only a part of what is due. */
    public void pollAll(Inbox inbox, TransactionalDestination destination) {
        while (poll(inbox, destination) > 0) {}
    }

    /** Lets time pass. */
    public void advance(Duration step) throws Exception {
        fixture.advance(step);
    }

    /** The record of a message of the usual source. Fails if there is none. */
    public static InboxRecord known(Inbox inbox, String messageId) {
        return inbox.get(SOURCE, messageId)
                .orElseThrow(() -> new AssertionError("message " + messageId + " is not known"));
    }

    /** Asserts the status of a work item and how often it was tried. */
    public static void assertItem(Inbox inbox, String messageId, Status status, int attempts) {
        InboxRecord record = known(inbox, messageId);
        assertThat(record.status()).as("status of %s", messageId).isEqualTo(status);
        assertThat(record.attempts()).as("attempts of %s", messageId).isEqualTo(attempts);
    }
}
