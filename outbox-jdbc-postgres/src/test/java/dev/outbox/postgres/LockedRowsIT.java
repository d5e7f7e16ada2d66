package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Receipt;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another transaction has locked rows of items in flight, and stays open. */
class LockedRowsIT {
    /** Far more than everything else needs, and less than a poller needs that waits for the lock. */
    private static final Duration SOON = Duration.ofSeconds(30);

    private final OutboxDatabase database = new OutboxDatabase();
    private final Background background = new Background(database);
    private final Map<String, AtomicInteger> delivered = new ConcurrentHashMap<>();
    private final Queue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch locked = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private Poller poller;

    @AfterEach
    void close() {
        released.countDown();
        locked.countDown();
        if (poller != null) {
            poller.close();
        }
        background.close();
        database.close();
    }

    /** The first is under way when it is locked; the slow one is until the lock is gone. */
    private void deliver(WorkItem item) throws InterruptedException {
        delivered.computeIfAbsent(item.messageId(), id -> new AtomicInteger()).incrementAndGet();
        if (item.messageId().equals("m-0")) {
            begun.countDown();
            locked.await();
        } else if (item.messageId().equals("slow")) {
            released.await();
        }
    }

    private static List<String> ids(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "m-" + i).toList();
    }

    private void assertEachWasDeliveredOnce(int count) {
        assertThat(delivered).hasSize(count);
        assertThat(delivered.values().stream().filter(times -> times.get() > 1)).isEmpty();
        assertThat(events).noneMatch(OutboxEvent.LeaseLost.class::isInstance);
    }

    private boolean isRenewed(String messageId, String table) {
        List<String> id = itemIds(table, List.of(messageId));
        return events.stream()
                .anyMatch(event -> event instanceof OutboxEvent.Renewed renewed
                        && renewed.leases().stream().anyMatch(lease -> id.contains(lease.itemId())));
    }

    private List<String> itemIds(String table, List<String> messageIds) {
        return database.query("SELECT work_item_id FROM " + table + " WHERE message_id IN ("
                + messageIds.stream().map(id -> "'" + id + "'").collect(Collectors.joining(",")) + ")");
    }

    private void awaitDone(String table, long count) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(database.statuses(table).getOrDefault(Status.DONE, 0L))
                        .isEqualTo(count));
    }

    @ParameterizedTest(name = "with a key: {0}")
    @ValueSource(booleans = {false, true})
    void aLockedRowOfAnOutboxDelaysOnlyItself(boolean keyed) throws Exception {
        String table = database.newTable();
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .listener(events::add)
                .build();
        List<String> first = new ArrayList<>(ids(0, 8));
        first.add("slow");
        store(outbox, first, keyed);
        poller = outbox.poller()
                .to(this::deliver)
                .batchSize(10)
                .lease(Duration.ofSeconds(12))
                .start();
        begun.await();

        try (AutoCloseable lock = database.lock(table, itemIds(table, List.of("m-0")))) {
            assertThat(lock).isNotNull();
            locked.countDown();
            store(outbox, ids(8, 400), keyed);
            awaitDone(table, 399);
            await().atMost(SOON).until(() -> isRenewed("slow", table));
        }
        released.countDown();

        awaitDone(table, 401);
        assertEachWasDeliveredOnce(401);
    }

    private void store(Outbox outbox, List<String> ids, boolean keyed) {
        database.commit(
                outbox,
                ids.stream()
                        .map(id -> Message.to("t")
                                .id(id)
                                .key(keyed ? "key of " + id : null)
                                .payload(""))
                        .toList());
    }

    @Test
    void anOpenTransactionThatRepeatsAnItemOfAnInboxDelaysOnlyIt() throws Exception {
        String table = database.newInboxTable();
        Inbox inbox = PostgresInbox.builder(database.pool())
                .table(table)
                .consumer("billing")
                .listener(events::add)
                .build();
        List<String> first = new ArrayList<>(ids(0, 8));
        first.add("slow");
        store(inbox, first);
        poller = inbox.poller()
                .to(this::deliver)
                .batchSize(10)
                .lease(Duration.ofSeconds(12))
                .start();
        begun.await();

        try (Connection repeating = database.pool().getConnection()) {
            repeating.setAutoCommit(false);
            assertThat(inbox.enqueue(repeating, incoming("m-0")).kind()).isEqualTo(Receipt.Kind.DUPLICATE);
            locked.countDown();
            store(inbox, ids(8, 400));
            awaitDone(table, 399);
            await().atMost(SOON).until(() -> isRenewed("slow", table));
            repeating.commit();
        }
        released.countDown();

        awaitDone(table, 401);
        assertEachWasDeliveredOnce(401);
    }

    private void store(Inbox inbox, List<String> ids) throws SQLException {
        inbox.transaction(database.pool(), tx -> {
            for (String id : ids) {
                inbox.enqueue(tx, incoming(id));
            }
            return null;
        });
    }

    private static Incoming incoming(String id) {
        return Incoming.from("shop", id).topic("t").payload("");
    }

    @Test
    void aThousandLockedRowsDelayOnlyThemselves() throws Exception {
        String table = database.newTable();
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .listener(events::add)
                .build();
        store(outbox, ids(0, 1_000), false);
        poller = outbox.poller()
                .toBatch(items -> {
                    for (WorkItem item : items) {
                        deliver(item);
                    }
                    return items.stream().map(item -> Outcome.done()).toList();
                })
                .batchSize(1_000)
                .concurrency(1)
                .lease(Duration.ofMinutes(1))
                .start();
        begun.await();

        try (AutoCloseable lock = database.lock(table, itemIds(table, ids(0, 1_000)))) {
            assertThat(lock).isNotNull();
            locked.countDown();
            store(outbox, ids(1_000, 1_500), false);
            awaitDone(table, 500);
        }

        awaitDone(table, 1_500);
        assertEachWasDeliveredOnce(1_500);
    }

    /** Its effects are rolled back, the attempt does not count, and its connection is free again. */
    @Test
    void aHandlersSettleWaitsForALockForAPartOfTheLeaseOnly() throws Exception {
        database.execute("CREATE TABLE effects (id text)");
        String table = database.newTable();
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .listener(events::add)
                .build();
        store(outbox, ids(0, 1), false);
        poller = outbox.poller()
                .inTransaction((tx, item) -> {
                    deliver(item);
                    try (PreparedStatement effect = tx.prepareStatement("INSERT INTO effects VALUES (?)")) {
                        effect.setString(1, item.messageId());
                        effect.execute();
                    }
                })
                .concurrency(2)
                .lease(Duration.ofSeconds(3))
                .start();
        begun.await();

        try (AutoCloseable lock = database.lock(table, itemIds(table, ids(0, 1)))) {
            assertThat(lock).isNotNull();
            locked.countDown();
            background.awaitWaiting("transactionid", 1);
            store(outbox, ids(1, 20), false);
            awaitDone(table, 19);
            background.awaitWaiting("transactionid", 0);
        }

        awaitDone(table, 20);
        assertThat(database.query("SELECT id FROM effects ORDER BY id"))
                .hasSize(20)
                .isEqualTo(List.copyOf(database.query("SELECT DISTINCT id FROM effects ORDER BY id")));
        assertThat(Set.copyOf(database.query("SELECT attempt_count FROM " + table)))
                .containsExactly("1");
    }
}
