package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.BoundInbox;
import dev.outbox.ConflictException;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What wakes a poller of an inbox whose idle pause is an hour. */
class InboxWakeUpIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final Duration HOUR = Duration.ofHours(1);

    private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();
    private final Inbox inbox = PostgresInbox.builder(DATABASE.pool())
            .table(DATABASE.newInboxTable())
            .consumer("billing")
            .build();
    private final Poller poller = inbox.poller()
            .inTransaction((tx, item) -> handled.add(item.messageId()))
            .idle(HOUR, HOUR)
            .build();
    private HookedTransaction current;
    private BoundInbox bound;

    private static Incoming item(String id) {
        return Incoming.from("shop", id).topic("orders").payload(id);
    }

    @BeforeEach
    void sleep() throws Exception {
        inbox.transaction(DATABASE.pool(), tx -> inbox.enqueue(tx, item("started")));
        poller.start();
        assertHandled("started");
        Connection tx = DATABASE.server().dataSource().getConnection();
        tx.setAutoCommit(false);
        current = new HookedTransaction(tx);
        bound = inbox.in(current);
    }

    @AfterEach
    void end() throws SQLException {
        poller.close();
        current.connection().close();
    }

    /** Returns once the poller sleeps again. */
    private void assertHandled(String id) throws InterruptedException {
        assertThat(handled.poll(2, TimeUnit.MINUTES)).isEqualTo(id);
        await().pollInterval(Duration.ofMillis(5)).until(() -> SleepingPollers.isAsleep(poller));
    }

    @Test
    void aCommitOfTheHelperWakes() throws InterruptedException {
        inbox.transaction(DATABASE.pool(), tx -> inbox.enqueue(tx, item("m-1")));

        assertHandled("m-1");
    }

    @Test
    void aCommitOfAWakingConnectionWakes() throws Exception {
        try (Connection tx = inbox.waking(DATABASE.pool()).getConnection()) {
            tx.setAutoCommit(false);
            inbox.enqueueAll(tx, List.of(item("m-1")));
            tx.commit();
        }

        assertHandled("m-1");
    }

    @Test
    void theOthersWakeAlthoughOneConflicts() throws Exception {
        try (Connection tx = inbox.waking(DATABASE.pool()).getConnection()) {
            tx.setAutoCommit(false);
            assertThatThrownBy(
                            () -> inbox.enqueueAll(tx, List.of(item("started").payload("forged"), item("m-1"))))
                    .isInstanceOf(ConflictException.class);
            tx.commit();
        }
        assertHandled("m-1");

        assertThatThrownBy(() -> bound.enqueueAll(List.of(item("started").payload("forged"), item("m-2"))))
                .isInstanceOf(ConflictException.class);
        current.commit();
        assertHandled("m-2");
    }

    @Test
    void aBoundInboxEnqueuesInTheCurrentTransactionAndWakesAfterItsCommit() throws Exception {
        assertThat(bound.enqueue(item("m-1")).isFirst()).isTrue();
        assertThat(inbox.get("shop", "m-1")).as("before the commit").isEmpty();

        current.commit();

        assertHandled("m-1");
    }

    @Test
    void aRequeueWakes() throws Exception {
        inbox.transaction(DATABASE.pool(), tx -> {
            inbox.enqueue(tx, item("m-1"));
            return inbox.markDead(tx, "shop", "m-1", "not yet");
        });

        inbox.requeue("shop", "m-1");

        assertHandled("m-1");
    }

    @Test
    void aBoundInboxReceivesAndGivesUpInTheCurrentTransaction() throws SQLException {
        Incoming incoming = Incoming.from("shop", "m-1").payload("p");
        assertThat(bound.receive(incoming).isFirst()).isTrue();
        current.rollback();

        assertThat(bound.receive(incoming, tx -> assertThat(tx).isSameAs(current.connection()))
                        .isFirst())
                .isTrue();
        assertThat(bound.markDead("shop", "m-1", "no")).isTrue();
        current.commit();

        assertThat(inbox.get("shop", "m-1").orElseThrow().status()).isEqualTo(Status.DEAD);
    }

    @Test
    @SuppressWarnings("NullAway")
    void nothingIsRefusedByItsName() {
        assertThatThrownBy(() -> bound.enqueue(null)).hasMessage("incoming must not be null");
    }
}
