package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@SuppressWarnings("try")
class StartedPollerTest {
    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final Events events = new Events();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(store.source()).to(destination).listener(events);
    }

    @Test
    void severalPollersOverOneStoreDeliverEveryItemOnce() {
        for (int i = 0; i < 300; i++) {
            store.add(message("free"));
            store.add(message("keyed").key("k" + i % 7));
        }
        Map<String, AtomicInteger> deliveries = new ConcurrentHashMap<>();
        Destination count = item -> deliveries
                .computeIfAbsent(item.messageId(), id -> new AtomicInteger())
                .incrementAndGet();

        try (Poller a = poller(count).batchSize(20).start();
                Poller b = poller(count).batchSize(30).start();
                Poller c = poller(count).concurrency(8).start()) {
            awaitAllDone(store);
        }

        assertThat(deliveries).hasSize(600);
        assertThat(deliveries.values()).extracting(AtomicInteger::get).containsOnly(1);
        assertThat(store.items()).extracting(ItemState::attempts).containsOnly(1);
    }

    @Test
    void itemsOfOneKeyComeOneAtATimeAndInOrder() {
        int keys = 10;
        for (int i = 0; i < 20; i++) {
            for (int key = 0; key < keys; key++) {
                store.add(message(String.valueOf(i)).key("k" + key));
            }
        }
        Map<String, List<Integer>> order = new ConcurrentHashMap<>();
        Map<String, AtomicInteger> atOnce = new ConcurrentHashMap<>();
        List<String> overlaps = new CopyOnWriteArrayList<>();
        Destination destination = item -> {
            AtomicInteger now = atOnce.computeIfAbsent(item.key(), k -> new AtomicInteger());
            if (now.incrementAndGet() != 1) {
                overlaps.add(item.key());
            }
            Thread.yield();
            order.computeIfAbsent(item.key(), k -> new CopyOnWriteArrayList<>()).add(Integer.valueOf(item.payload()));
            now.decrementAndGet();
        };

        try (Poller a = poller(destination).concurrency(8).batchSize(17).start();
                Poller b = poller(destination).concurrency(8).batchSize(29).start()) {
            awaitAllDone(store);
        }

        assertThat(overlaps).isEmpty();
        assertThat(order)
                .hasSize(keys)
                .allSatisfy((key, payloads) -> assertThat(payloads).hasSize(20).isSorted());
    }

    @ParameterizedTest(name = "executor of the caller: {0}")
    @ValueSource(booleans = {false, true})
    void asManyDeliveriesRunAtOnceAsAllowedAndNoMore(boolean callersExecutor) {
        int concurrency = 3;
        store.add(unkeyed(30));
        CyclicBarrier together = new CyclicBarrier(concurrency);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ExecutorService unbounded = Executors.newCachedThreadPool();
        PollerBuilder builder = poller(item -> {
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    together.await(2, TimeUnit.MINUTES);
                    now.decrementAndGet();
                })
                .concurrency(concurrency)
                .batchSize(10);
        if (callersExecutor) {
            builder.executor(unbounded);
        }

        try (Poller poller = builder.start()) {
            awaitAllDone(store);
        } finally {
            unbounded.shutdown();
        }

        assertThat(most).hasValue(concurrency);
        assertThat(store.items()).extracting(ItemState::attempts).containsOnly(1);
    }

    @Test
    void theCallersExecutorDeliversAndIsNotShutDown() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(work -> new Thread(work, "callers-own"));
        try {
            store.add(unkeyed(3));
            List<String> threads = new CopyOnWriteArrayList<>();
            try (Poller poller = poller(
                            item -> threads.add(Thread.currentThread().getName()))
                    .executor(executor)
                    .start()) {
                awaitAllDone(store);
            }

            assertThat(threads).containsOnly("callers-own");
            assertThat(executor.isShutdown()).isFalse();
            assertThat(executor.submit(() -> "still at work").get()).isEqualTo("still at work");
        } finally {
            executor.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {RejectedExecutionException.class, IllegalStateException.class})
    void whatAnExecutorRefusesIsGivenBackUncountedAndThePollerGoesOn(Class<? extends RuntimeException> refusal) {
        List<String> ids = new ArrayList<>(store.add(unkeyed(2)));
        ids.addAll(store.add(run("k", 2)));
        AtomicReference<RuntimeException> refusing = new AtomicReference<>(
                refusal == RejectedExecutionException.class
                        ? new RejectedExecutionException("full")
                        : new IllegalStateException("broken"));
        ExecutorService threads = Executors.newCachedThreadPool();
        Executor executor = work -> {
            if (refusing.get() != null) {
                throw refusing.get();
            }
            threads.execute(work);
        };

        try (Poller poller =
                poller(item -> {}).executor(executor).idle(HOUR, HOUR).start()) {
            await().until(() -> events.count(OutboxEvent.PollFailed.class) >= 2);
            assertThat(events.of(OutboxEvent.PollFailed.class).get(0).cause())
                    .hasMessageContaining("accepts no work; is it shut down?")
                    .hasCause(refusing.get());
            await().until(() -> events.count(OutboxEvent.Released.class) >= ids.size());
            refusing.set(null);
            poller.wakeUp();
            awaitAllDone(store);
        } finally {
            threads.shutdown();
        }

        assertThat(ids).allSatisfy(id -> assertThat(state(store, id).attempts()).isOne());
    }

    @Test
    void anExecutorThatTakesFewerWorkersThanAllowedStillDeliversAll() {
        ThreadPoolExecutor one = new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>());
        store.add(unkeyed(200));

        try (Poller poller =
                poller(item -> {}).executor(one).concurrency(8).batchSize(20).start()) {
            awaitAllDone(store);
        } finally {
            one.shutdown();
        }

        assertThat(store.items()).extracting(ItemState::status).containsOnly(Status.DONE);
    }

    @Test
    void aPollerRestrictedToTopicsLeavesTheOthersAlone() {
        String mine = store.add(Message.to("mine").payload("")).get(0);
        String other = store.add(Message.to("other").payload("")).get(0);
        String alsoMine = store.add(Message.to("also.mine").payload("")).get(0);
        List<WorkItem> delivered = new CopyOnWriteArrayList<>();

        try (Poller poller = poller(delivered::add).topics("mine", "also.mine").start()) {
            awaitStatus(store, mine, Status.DONE);
            awaitStatus(store, alsoMine, Status.DONE);
        }

        assertThat(status(store, other)).isEqualTo(Status.READY);
        assertThat(state(store, other).attempts()).isZero();
        assertThat(delivered).extracting(WorkItem::topic).containsExactlyInAnyOrder("mine", "also.mine");
    }

    @Test
    void aFailingKeyHoldsNobodyElseBack() {
        List<String> failing = store.add(run("failing", 3));
        List<String> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            others.addAll(store.add(run("k" + i, 3)));
        }

        try (Poller poller = poller(item -> {
                    if ("failing".equals(item.key())) {
                        throw new IllegalStateException("down");
                    }
                })
                .batchSize(5)
                .start()) {
            await().until(() -> others.stream().allMatch(id -> status(store, id) == Status.DONE));
        }

        assertThat(state(store, failing.get(0)).attempts()).isPositive();
        assertThat(failing).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.READY));
        assertThat(state(store, failing.get(1)).attempts()).isZero();
        assertThat(state(store, failing.get(2)).attempts()).isZero();
    }
}
