package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.WorkQueue;
import dev.outbox.jdbc.TableKind;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Where items of a key stand after a requeue, and that their key never has two owners at a time. */
class RequeueOrderIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private static final Requeue REQUEUE = Requeue.by("anna", "the broker is back");
    private static final ClaimRequest CLAIM = new ClaimRequest(100, Duration.ofMinutes(5), 10, Set.of(), "node-2");

    private Tables tables;
    private DeadLetters dead;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
        dead = tables.admin().deadLetters();
    }

    @Test
    void skippedItemsGoToTheEndOfTheirKeyInTheirOrder() {
        ItemRef first = tables.dead(message("k"), "no route");
        ItemRef second = tables.dead(message("k"), "no route");
        String behind = tables.enqueue(message("k"));

        assertThat(dead.requeue(List.of(second, first), REQUEUE).count()).isEqualTo(2);

        assertThat(idsBySequence("outbox")).containsExactly(behind, first.id(), second.id());
        assertThat(tables.deliver()).extracting(WorkItem::id).containsExactly(behind, first.id(), second.id());
    }

    @Test
    void skippedItemsOfAnInboxGoToTheEndOfTheirKey() {
        ItemRef first = tables.dead(incoming("m-1", "k"), "no stock");
        ItemRef second = tables.dead(incoming("m-2", "k"), "no stock");
        tables.enqueue(incoming("m-3", "k"));
        String behind = tables.value("SELECT work_item_id FROM inbox WHERE message_id = 'm-3'");

        assertThat(dead.requeue(DeadFilter.all(), REQUEUE).count()).isEqualTo(2);

        assertThat(idsBySequence("inbox")).containsExactly(behind, first.id(), second.id());
    }

    @Test
    void severalBatchesOfAKeyKeepTheirOrder() {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, message_key, payload, status, processed_on, last_error)
                SELECT gen_random_uuid(), 'orders', 'k', 'x', 3, statement_timestamp(), 'e' FROM generate_series(1, 700)
                """);
        List<String> before = idsBySequence("outbox");
        String behind = tables.enqueue(message("k"));
        List<ItemRef> refs = new ArrayList<>(
                before.stream().map(id -> new ItemRef(TableKind.OUTBOX, id)).toList());
        Collections.reverse(refs);

        assertThat(dead.requeue(refs, REQUEUE).count()).isEqualTo(700);

        assertThat(idsBySequence("outbox").get(0)).isEqualTo(behind);
        assertThat(idsBySequence("outbox").subList(1, 701)).isEqualTo(before);
    }

    @Test
    void itemsOfMoreKeysThanATransactionMayLockAreRequeued() {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, message_key, payload, status, processed_on, last_error)
                SELECT gen_random_uuid(), 'orders', 'k' || n, 'x', 3, statement_timestamp() - n * interval '1 ms', 'e'
                FROM generate_series(1, 600) AS n
                """);

        assertThat(dead.requeue(DeadFilter.all(), REQUEUE).count()).isEqualTo(600);

        assertThat(tables.value("SELECT count(*) FROM outbox WHERE status = 0 AND sequence > 600"))
                .isEqualTo("600");
    }

    @Test
    void anItemThatBlocksItsKeyKeepsItsPlace() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ids.add(tables.enqueue(message("k")));
        }
        tables.killAll("poison", OnDead.BLOCK);
        List<String> before = tables.rows("SELECT sequence FROM outbox ORDER BY work_item_id");

        assertThat(dead.requeue(DeadFilter.all(), REQUEUE).count()).isOne();

        assertThat(tables.rows("SELECT sequence FROM outbox ORDER BY work_item_id"))
                .isEqualTo(before);
        assertThat(tables.deliver()).extracting(WorkItem::id).containsExactlyElementsOf(ids);
    }

    @Test
    void anItemWithoutAKeyKeepsItsPlace() {
        ItemRef ref = tables.dead(Message.to("orders").payload("x"), "no route");
        String before = tables.value("SELECT sequence FROM outbox");

        dead.requeue(List.of(ref), REQUEUE);

        assertThat(tables.value("SELECT sequence FROM outbox")).isEqualTo(before);
        assertThat(tables.deliver()).extracting(WorkItem::id).containsExactly(ref.id());
    }

    @Test
    void aBlockingItemIsDueBeforeASkippedOneOfItsKey() {
        ItemRef skipped = tables.dead(message("k"), "no route");
        String blocking = tables.enqueue(message("k"));
        tables.killAll("poison", OnDead.BLOCK);

        dead.requeue(DeadFilter.all(), REQUEUE.perSecond(1));

        assertThat(tables.rows("SELECT work_item_id FROM outbox ORDER BY due_on"))
                .containsExactly(blocking, skipped.id());
        assertThat(idsBySequence("outbox")).containsExactly(blocking, skipped.id());
    }

    @Test
    void aRequeueWaitsForAnOpenTransactionThatStoredAMessageOfTheKey() throws Exception {
        ItemRef ref = tables.dead(message("k"), "no route");
        try (Connection tx = tables.dataSource.getConnection()) {
            tx.setAutoCommit(false);
            String open = tables.outbox.enqueue(tx, message("k")).stored().get(0);
            CompletableFuture<ActionResult> requeue =
                    CompletableFuture.supplyAsync(() -> dead.requeue(List.of(ref), REQUEUE));

            await().until(() -> waiting("advisory").equals("1"));
            assertThat(requeue).isNotDone();
            // while it waits, the Dead row is free
            tables.execute("UPDATE outbox SET last_error = 'looked at' WHERE status = 3");
            String committed = tables.value("SELECT clock_timestamp()");
            tx.commit();

            assertThat(requeue.get(1, TimeUnit.MINUTES).count()).isOne();
            assertThat(idsBySequence("outbox")).containsExactly(open, ref.id());
            assertThat(tables.value("SELECT due_on >= ?::timestamptz FROM outbox WHERE due_on IS NOT NULL", committed))
                    .as("no mark of a poller has passed its due time")
                    .isEqualTo("t");
        }
    }

    @Test
    void anEnqueueOfTheKeyWaitsForARequeueThatIsNotCommitted() throws Exception {
        ItemRef ref = tables.dead(message("k"), "no route");
        try (Connection rival = tables.dataSource.getConnection();
                Statement statement = rival.createStatement()) {
            rival.setAutoCommit(false);
            statement.execute("LOCK TABLE outbox_audit IN EXCLUSIVE MODE"); // the requeue has its locks and stops here
            CompletableFuture<ActionResult> requeue =
                    CompletableFuture.supplyAsync(() -> dead.requeue(List.of(ref), REQUEUE));
            await().until(() -> waiting("relation").equals("1"));
            CompletableFuture<String> enqueue = CompletableFuture.supplyAsync(() -> tables.enqueue(message("k")));
            await().until(() -> waiting("advisory").equals("1"));
            rival.commit();

            assertThat(requeue.get(1, TimeUnit.MINUTES).count()).isOne();
            String enqueued = enqueue.get(1, TimeUnit.MINUTES);
            assertThat(idsBySequence("outbox")).containsExactly(ref.id(), enqueued);
        }
    }

    @Test
    void aRequeueThatWaitsTooLongForAKeyFailsAndMayBeRepeated(EmbeddedDatabase database) throws Exception {
        ItemRef ref = tables.dead(message("k"), "no route");
        PGSimpleDataSource impatient = new PGSimpleDataSource();
        impatient.setUrl(database.jdbcUrl());
        impatient.setUser(database.user());
        impatient.setOptions("-c lock_timeout=100ms");
        DeadLetters other = Admin.of(impatient).build().deadLetters();
        try (Connection tx = tables.dataSource.getConnection()) {
            tx.setAutoCommit(false);
            tables.outbox.enqueue(tx, message("k"));

            assertThatThrownBy(() -> other.requeue(List.of(ref), REQUEUE))
                    .isInstanceOfSatisfying(
                            OutboxException.class,
                            e -> assertThat(e.isRetryable()).isTrue());
            tx.rollback();
        }

        assertThat(tables.value("SELECT status FROM outbox")).isEqualTo("3");
        assertThat(other.requeue(List.of(ref), REQUEUE).count()).isOne();
    }

    /** One poller has taken the second item and not committed yet; the first one, which was skipped, is requeued then. */
    @Test
    void aKeyHasOneOwnerWhenASkippedItemIsRequeuedDuringAClaim() throws Exception {
        ItemRef skipped = tables.dead(message("k"), "no route");
        String behind = tables.enqueue(message("k"));
        ItemRef skippedIncoming = tables.dead(incoming("m-1", "k"), "no stock");
        tables.enqueue(incoming("m-2", "k"));

        for (String table : List.of("outbox", "inbox")) {
            try (Connection claiming = tables.dataSource.getConnection();
                    Statement claim = claiming.createStatement()) {
                claiming.setAutoCommit(false);
                assertThat(claim.executeUpdate("UPDATE " + table + """
                         SET status = 1, owner_token = gen_random_uuid(), attempt_count = 1, processed_by = 'node-1',
                            locked_until = statement_timestamp() + interval '5 minutes'
                        WHERE status = 0
                        """)).isOne();

                dead.requeue(List.of(table.equals("outbox") ? skipped : skippedIncoming), REQUEUE);
                WorkQueue queue = table.equals("outbox") ? tables.outbox : tables.inbox;
                List<String> claimed = claimAll(queue.source());
                claiming.commit();

                assertThat(keysWithTwoOwners(table)).as(table).isEqualTo("0");
                assertThat(claimed).as(table).isEmpty();
            }
        }
        tables.execute(
                "UPDATE outbox SET status = 2, owner_token = NULL, locked_until = NULL WHERE work_item_id = ?::uuid",
                behind);
        assertThat(tables.deliver()).extracting(WorkItem::id).containsExactly(skipped.id());
    }

    /** How many wait for a lock of this type. */
    private String waiting(String type) {
        return tables.value("""
                SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
                WHERE locktype = ? AND NOT granted AND datname = current_database()
                """, type);
    }

    private static List<String> claimAll(Source source) {
        List<String> ids = new ArrayList<>();
        Claim claim;
        do {
            claim = source.claim(CLAIM);
            claim.items().forEach(item -> ids.add(item.id()));
        } while (claim.more());
        return ids;
    }

    private String keysWithTwoOwners(String table) {
        return tables.value("""
                SELECT count(*) FROM (
                    SELECT message_key FROM %s WHERE status = 1 GROUP BY message_key
                    HAVING count(DISTINCT owner_token) > 1) AS keys
                """.formatted(table));
    }

    private List<String> idsBySequence(String table) {
        return tables.rows("SELECT work_item_id FROM " + table + " ORDER BY sequence");
    }

    private static Message message(String key) {
        return Message.to("orders").key(key).payload("x");
    }

    private static Incoming incoming(String id, String key) {
        return Incoming.from("shop", id).topic("orders").key(key).payload("x");
    }
}
