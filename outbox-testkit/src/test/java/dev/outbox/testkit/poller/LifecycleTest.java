package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.threadsOf;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class LifecycleTest {
    private final Thread.UncaughtExceptionHandler handlerBefore = Thread.getDefaultUncaughtExceptionHandler();
    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();

    private PollerBuilder poller(String name, Destination destination) {
        return Poller.from(store.source()).to(destination).name(name);
    }

    private void catchUncaught() {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> uncaught.add(error));
    }

    @AfterEach
    void restoreHandler() {
        Thread.setDefaultUncaughtExceptionHandler(handlerBefore);
    }

    private static void awaitNoThreads(String name) {
        await("no thread of " + name + " is left")
                .untilAsserted(() -> assertThat(threadsOf(name)).isEmpty());
    }

    @Test
    void startAndCloseCanBeRepeated() {
        Poller poller = poller("repeated", item -> {}).build();
        assertThat(poller.isRunning()).isFalse();

        assertThat(poller.start()).isSameAs(poller);
        List<String> threads = threadsOf("repeated");
        assertThat(poller.start()).isSameAs(poller);
        assertThat(poller.isRunning()).isTrue();
        assertThat(threadsOf("repeated")).isEqualTo(threads);

        poller.close();
        poller.close();
        assertThat(poller.isRunning()).isFalse();
        awaitNoThreads("repeated");
    }

    @Test
    void aWakeUpThatFailsToCloseDoesNotKeepThePollerOpen() {
        Poller poller = poller("broken", item -> {})
                .wakeUp(wake -> () -> {
                    throw new IllegalStateException("the broker is gone");
                })
                .start();
        store.add(message("before"));
        poller.wakeUp();
        awaitAllDone(store);

        poller.close();

        assertThat(poller.isRunning()).isFalse();
        awaitNoThreads("broken");
    }

    @Test
    void aClosedPollerCannotBeStartedAgain() {
        Poller poller = poller("closed", item -> {}).start();
        poller.close();
        assertThatThrownBy(poller::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("poller closed is closed; build a new one");

        Poller neverStarted = poller("closed", item -> {}).build();
        neverStarted.close();
        neverStarted.close();
        assertThatThrownBy(neverStarted::start).isInstanceOf(IllegalStateException.class);
        awaitNoThreads("closed");
    }

    @Test
    void aStormOfStartsAndClosesEndsClosedWithNoThreadLeft() throws Exception {
        catchUncaught();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        for (int round = 0; round < 60; round++) {
            Poller poller = poller("storm", item -> {}).build();
            CyclicBarrier together = new CyclicBarrier(4);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                boolean starts = i < 2;
                threads.add(new Thread(() -> {
                    try {
                        together.await();
                        if (starts) {
                            poller.start();
                        } else {
                            poller.close();
                        }
                    } catch (IllegalStateException closedBefore) {
                        assertThat(closedBefore).hasMessageContaining("is closed; build a new one");
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            poller.close();
            assertThat(poller.isRunning()).isFalse();
        }

        assertThat(failures).isEmpty();
        assertThat(uncaught).isEmpty();
        awaitNoThreads("storm");
    }

    @Test
    void aCloseInTheMiddleOfAStartLeavesNothingBehind() throws Exception {
        catchUncaught();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        for (int round = 0; round < 100; round++) {
            Poller poller = poller("middle", item -> {}).build();
            Thread closer = new Thread(() -> {
                try {
                    while (!poller.isRunning()) {
                        Thread.onSpinWait();
                    }
                    poller.close();
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            closer.start();
            poller.start();
            closer.join();
        }

        assertThat(failures).isEmpty();
        assertThat(uncaught).isEmpty();
        awaitNoThreads("middle");
    }

    @Test
    void aSecondCloseWaitsForTheFirst() throws Exception {
        store.add(message("a"));
        Gate gate = new Gate();
        Poller poller = poller("twice", gate).start();
        gate.awaitArrival();
        List<Status> seen = new CopyOnWriteArrayList<>();
        String id = store.items().get(0).id();
        List<Thread> closers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            closers.add(new Thread(() -> {
                poller.close();
                seen.add(Fixture.status(store, id));
            }));
        }
        closers.forEach(Thread::start);
        await().until(() -> closers.stream()
                .allMatch(closer ->
                        closer.getState() == Thread.State.WAITING || closer.getState() == Thread.State.TIMED_WAITING));

        gate.open();

        for (Thread closer : closers) {
            closer.join();
        }
        assertThat(seen).containsExactly(Status.DONE, Status.DONE, Status.DONE);
    }

    @Test
    void aDestinationCanCloseItsPoller() {
        String id = store.add(message("a")).get(0);
        AtomicReference<Poller> self = new AtomicReference<>();
        Poller poller = poller("own", item -> self.get().close()).concurrency(1).build();
        self.set(poller);

        poller.start();

        awaitStatus(store, id, Status.DONE);
        await().until(() -> !poller.isRunning());
        awaitNoThreads("own");
    }

    @ParameterizedTest
    @ValueSource(classes = {OutboxEvent.Claimed.class, OutboxEvent.Done.class, OutboxEvent.Renewed.class})
    void aListenerCanCloseItsPoller(Class<? extends OutboxEvent> kind) throws Exception {
        store.add(message("a"));
        Gate gate = new Gate();
        AtomicReference<Poller> self = new AtomicReference<>();
        Poller poller = poller("listener", gate)
                .lease(Duration.ofMillis(300))
                .listener(event -> {
                    if (kind.isInstance(event)) {
                        self.get().close();
                        gate.open();
                    }
                })
                .build();
        self.set(poller);

        poller.start();
        if (kind == OutboxEvent.Done.class) {
            gate.open();
        }

        await().until(() -> !poller.isRunning());
        awaitNoThreads("listener");
    }

    @Test
    void aDestinationThatClosesAPollerOfPollOnceEndsIt() {
        store.add(unkeyed(2));
        AtomicReference<Poller> self = new AtomicReference<>();
        Poller poller = poller("once", item -> self.get().close()).build();
        self.set(poller);

        assertThat(poller.pollOnce()).isEqualTo(2);

        assertThat(store.items().get(0).status()).isEqualTo(Status.DONE);
        assertThat(store.items().get(1).status()).isEqualTo(Status.READY);
        assertThat(store.items().get(1).attempts()).isZero();
    }

    @Test
    void anIdlePollerHoldsNoneOfTheCallersThreads() {
        List<Runnable> running = new CopyOnWriteArrayList<>();
        store.add(unkeyed(5));
        try (Poller poller = poller("idle", item -> {})
                .executor(work -> {
                    running.add(work);
                    new Thread(() -> {
                                work.run();
                                running.remove(work);
                            })
                            .start();
                })
                .start()) {
            awaitAllDone(store);
            await().until(running::isEmpty);
            assertThat(poller.isRunning()).isTrue();
        }
    }
}
