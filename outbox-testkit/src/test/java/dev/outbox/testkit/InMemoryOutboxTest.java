package dev.outbox.testkit;

import static dev.outbox.testkit.OutboxAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.Stage;
import dev.outbox.delivery.Poller;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The outbox in memory, the destinations beside it, and what assertions say about them. */
class InMemoryOutboxTest {
    private final InMemoryOutbox outbox = new InMemoryOutbox();

    private static Message message(String id) {
        return Message.to("orders.placed").id(id).payload("secret payload");
    }

    private void commit(Message... messages) {
        for (Message message : messages) {
            outbox.transaction(outbox.dataSource(), tx -> outbox.enqueue(tx, message));
        }
    }

    private void poll(RecordingDestination destination) {
        outbox.poller().to(destination).build().pollOnce();
    }

    @Test
    void aMessageIsStoredWhenItsTransactionCommits() throws SQLException {
        try (Connection tx = outbox.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("m-1"));
            assertThat(outbox.store().items()).isEmpty();
            tx.commit();
        }
        assertThat(outbox.store().items()).hasSize(1);
    }

    @Test
    void aMessageIsGoneWhenItsTransactionRollsBackOrIsNeverEnded() throws SQLException {
        try (Connection tx = outbox.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("m-1"));
            tx.rollback();
            outbox.enqueue(tx, message("m-2"));
        }
        assertThat(outbox.store().items()).isEmpty();
    }

    @Test
    void anIdIsStoredOnce() throws SQLException {
        commit(message("m-1"));
        try (Connection tx = outbox.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            Enqueued enqueued =
                    outbox.enqueueAll(tx, java.util.List.of(message("m-1"), message("m-2"), message("m-2")));
            tx.commit();

            assertThat(enqueued.stored()).containsExactly("m-2");
            assertThat(enqueued.alreadyThere()).containsExactly("m-1", "m-2");
        }
        assertThat(outbox.store().items()).hasSize(2);
    }

    @Test
    void enqueueNeedsATransactionOfThisOutbox() throws SQLException {
        try (Connection tx = outbox.dataSource().getConnection()) {
            assertThatThrownBy(() -> outbox.enqueue(tx, message("m-1")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("auto-commit mode; call setAutoCommit(false) first");
            assertThatThrownBy(() -> tx.prepareStatement("SELECT 1"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("test with a PostgresExtension");
        }
    }

    @Test
    void aStageIsStoredWhenItIsFlushed() {
        Stage stage = outbox.stage();
        stage.add(message("m-1"));
        outbox.transaction(outbox.dataSource(), stage::flush);

        assertThat(outbox.store().items()).hasSize(1);
    }

    @Test
    void whatIsDeliveredIsSeen() {
        commit(message("m-1").key("k"), message("m-2").key("k"), message("m-3"));
        RecordingDestination destination = RecordingDestination.create();
        poll(destination);
        poll(destination);

        assertThat(outbox).hasDelivered("orders.placed").times(3);
        assertThat(outbox).hasDelivered("orders.placed").withKey("k").times(2).inOrder();
        assertThat(outbox).hasNoStuckItems().hasNoDeadItems().hasNotDelivered("orders.cancelled");
        assertThat(destination.messageIds()).containsExactlyInAnyOrder("m-1", "m-2", "m-3");
    }

    @Test
    void aFailureShowsTheRowsAndNoPayload() {
        commit(message("m-1").key("k"));

        assertThatThrownBy(() -> assertThat(outbox).hasDelivered("orders.placed"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Expected messages to orders.placed to be delivered, but none was")
                .hasMessageContaining("1  m-1  to orders.placed  key k  READY  attempts 0")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> assertThat(outbox).hasNoStuckItems())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("m-1");
        poll(RecordingDestination.create());
        assertThatThrownBy(
                        () -> assertThat(outbox).hasDelivered("orders.placed").withKey("other"))
                .hasMessageContaining("with key other");
        assertThatThrownBy(
                        () -> assertThat(outbox).hasDelivered("orders.placed").times(2))
                .hasMessageContaining("2 times, but they were 1 times");
        assertThatThrownBy(() -> assertThat(outbox).hasNotDelivered("orders.placed"))
                .hasMessageContaining("no message to orders.placed to be delivered");
    }

    @Test
    void aMessageThatFailsWaitsAndThenIsTakenOrDead() {
        commit(message("m-1").key("k"), message("m-2").key("k"));
        RecordingDestination flaky = RecordingDestination.flaky(1);
        poll(flaky);
        assertThat(outbox).hasNoStuckItems().hasNotDelivered("orders.placed");
        for (int i = 0; i < 4; i++) {
            outbox.clock().advance(Duration.ofHours(1));
            poll(flaky);
        }
        assertThat(outbox).hasDelivered("orders.placed").withKey("k").times(2).inOrder();
        assertThat(flaky.attempts()).hasSize(4);

        commit(message("m-3"));
        poll(RecordingDestination.failing(() -> new PermanentFailureException("no")));
        assertThatThrownBy(() -> assertThat(outbox).hasNoDeadItems())
                .hasMessageContaining("m-3")
                .hasMessageContaining("PermanentFailureException: no");
    }

    @Test
    void aSlowDestinationLosesItsLease() {
        commit(message("m-1"));
        Duration lease = Duration.ofSeconds(30);
        RecordingDestination slow = RecordingDestination.slow(outbox.clock(), lease.multipliedBy(2));
        outbox.poller().lease(lease).to(slow).build().pollOnce();
        poll(RecordingDestination.create());

        assertThat(slow.deliveries()).hasSize(1);
        assertThat(outbox).hasDelivered("orders.placed").times(1);
    }

    @Test
    void aBlockingDestinationWaitsUntilItIsReleased() throws InterruptedException {
        RecordingDestination blocking = RecordingDestination.blocking();
        try (Poller poller = outbox.poller().to(blocking).start()) {
            commit(message("m-1"));
            blocking.awaitAttempts(1);
            assertThat(blocking.deliveries()).isEmpty();
            blocking.release();
            blocking.awaitDeliveries(1);
            assertThat(poller.isRunning()).isTrue();
        }
        assertThat(outbox).hasDelivered("orders.placed");
    }

    @Test
    void purgeRemovesWhatWasDoneLongAgo() {
        commit(message("m-1"), message("m-2"));
        poll(RecordingDestination.create());
        outbox.clock().advance(Duration.ofDays(8));
        commit(message("m-3"));

        assertThat(outbox.purge(Duration.ofDays(7))).isEqualTo(2);
        assertThat(outbox.store().items()).hasSize(1);
    }

    @Test
    void ordersAreJudgedByWhatWasFinishedFirst() {
        commit(message("m-1").key("k"), message("m-2").key("k"));
        // somebody settles the second one first
        outbox.store().row(outbox.store().items().get(1).id()).endLease(dev.outbox.Status.DONE);

        assertThatThrownBy(
                        () -> assertThat(outbox).hasDelivered("orders.placed").inOrder())
                .hasMessageContaining("of key k m-2 was delivered and the earlier m-1 was not");
    }
}
