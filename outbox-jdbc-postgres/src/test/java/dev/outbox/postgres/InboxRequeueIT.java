package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where a work item of an inbox stands in its key after a requeue. */
class InboxRequeueIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final ClaimRequest CLAIM = new ClaimRequest(100, Duration.ofMinutes(5), 10, Set.of(), "node-2");

    private final String table = DATABASE.newInboxTable();
    private final Inbox inbox = PostgresInbox.builder(DATABASE.pool())
            .table(table)
            .consumer("billing")
            .build();

    @Test
    void aSkippedItemGoesToTheEndOfItsKey() {
        enqueue("m-1", "m-2", "m-3");
        markDead("m-1");

        inbox.requeue("shop", "m-1");

        assertThat(bySequence()).containsExactly("m-2", "m-3", "m-1");
        assertThat(claimAll()).containsExactly("m-2", "m-3", "m-1");
    }

    @Test
    void anItemThatBlocksItsKeyKeepsItsPlace() {
        enqueue("m-1", "m-2", "m-3");
        DATABASE.execute("UPDATE " + table + " SET status = 3, blocks_key = true, processed_on = statement_timestamp()"
                + " WHERE message_id = 'm-1'");

        inbox.requeue("shop", "m-1");

        assertThat(bySequence()).containsExactly("m-1", "m-2", "m-3");
        assertThat(claimAll()).containsExactly("m-1", "m-2", "m-3");
    }

    @Test
    void aRequeueWaitsForAnOpenTransactionThatStoredAMessageOfTheKey() throws Exception {
        enqueue("m-1");
        markDead("m-1");
        try (Connection tx = DATABASE.pool().getConnection()) {
            tx.setAutoCommit(false);
            inbox.enqueue(tx, incoming("m-2"));
            CompletableFuture<Void> requeue = CompletableFuture.runAsync(() -> inbox.requeue("shop", "m-1"));
            await().until(() -> DATABASE.count(
                            "pg_locks JOIN pg_database d ON d.oid = database",
                            "locktype = 'advisory' AND NOT granted AND datname = current_database()")
                    == 1);
            String committed = DATABASE.query("SELECT clock_timestamp()").get(0);
            tx.commit();
            requeue.get(1, TimeUnit.MINUTES);

            assertThat(bySequence()).containsExactly("m-2", "m-1");
            assertThat(DATABASE.count(table, "due_on >= '" + committed + "'")).isOne();
        }
    }

    /** One poller has taken the second item and not committed yet; the first one, which was skipped, is requeued then. */
    @Test
    void aKeyHasOneOwnerWhenASkippedItemIsRequeuedDuringAClaim() throws SQLException {
        enqueue("m-1", "m-2");
        markDead("m-1");
        try (Connection claiming = DATABASE.pool().getConnection();
                Statement claim = claiming.createStatement()) {
            claiming.setAutoCommit(false);
            claim.executeUpdate("UPDATE " + table + """
                     SET status = 1, owner_token = gen_random_uuid(), attempt_count = 1, processed_by = 'node-1',
                        locked_until = statement_timestamp() + interval '5 minutes'
                    WHERE status = 0
                    """);

            inbox.requeue("shop", "m-1");
            List<String> claimed = claimAll();
            claiming.commit();

            assertThat(claimed).isEmpty();
            assertThat(DATABASE.query("SELECT count(DISTINCT owner_token) FROM " + table + " WHERE status = 1"))
                    .containsExactly("1");
        }
    }

    private void enqueue(String... ids) {
        for (String id : ids) {
            inbox.transaction(DATABASE.pool(), tx -> inbox.enqueue(tx, incoming(id)));
        }
    }

    private void markDead(String id) {
        inbox.transaction(DATABASE.pool(), tx -> inbox.markDead(tx, "shop", id, "not yet"));
    }

    private List<String> claimAll() {
        Source source = inbox.source();
        List<String> ids = new ArrayList<>();
        Claim claim;
        do {
            claim = source.claim(CLAIM);
            claim.items().forEach(item -> ids.add(item.messageId()));
        } while (claim.more());
        return ids;
    }

    private List<String> bySequence() {
        return DATABASE.query("SELECT message_id FROM " + table + " ORDER BY sequence");
    }

    private static Incoming incoming(String id) {
        return Incoming.from("shop", id).topic("orders").key("k").payload("x");
    }
}
