package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchDeliveryTest {
    private final BatchCalls batches = new BatchCalls();
    private final InMemoryStore store = batches.store;

    @Test
    void everyItemGetsItsOwnOutcome() {
        List<String> ids = store.add(unkeyed(4));

        batches.pollOnce(items -> items.stream()
                .map(item -> switch (item.payload()) {
                    case "0" -> Outcome.done();
                    case "1" -> Outcome.retry(new IOException("down"));
                    case "2" -> Outcome.retryAfter(Duration.ofMinutes(1), "throttled");
                    default -> Outcome.dead(new IOException("refused"));
                })
                .toList());

        assertThat(batches.calls)
                .singleElement()
                .satisfies(items -> assertThat(items).hasSize(4));
        assertThat(state(store, ids.get(1)))
                .isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "java.io.IOException: down"));
        assertThat(state(store, ids.get(2)))
                .isEqualTo(new ItemState(
                        ids.get(2), Status.READY, 0, "dev.outbox.delivery.RetryAfterException: throttled"));
        assertThat(state(store, ids.get(3)).lastError()).isEqualTo("java.io.IOException: refused");
    }

    @Test
    void anExceptionIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(3));

        batches.pollOnce(items -> {
            throw new IOException("broker is down");
        });

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id))
                        .isEqualTo(new ItemState(id, Status.READY, 1, "java.io.IOException: broker is down")));
    }

    @Test
    void aPermanentFailureOfTheWholeCallCondemnsOnlyTheItemThatHasItAlone() {
        List<String> ids = store.add(unkeyed(5));

        batches.pollOnce(items -> {
            if (items.stream().anyMatch(item -> item.payload().equals("3"))) {
                throw new PermanentFailureException("one of them is bad");
            }
            return BatchCalls.allDone(items);
        });

        assertThat(ids.stream().map(id -> status(store, id)))
                .containsExactly(Status.DONE, Status.DONE, Status.DONE, Status.DEAD, Status.DONE);
    }

    @Test
    void retryAfterOfTheWholeCallCountsNoAttempt() {
        List<String> ids = store.add(unkeyed(2));

        batches.pollOnce(items -> {
            throw new RetryAfterException(Duration.ofMinutes(1), "throttled");
        });

        assertThat(ids).allSatisfy(id -> assertThat(state(store, id).attempts()).isZero());
    }

    @Test
    void aCallNeverHoldsTwoItemsOfOneKeyAndKeepsTheirOrder() {
        for (int i = 0; i < 6; i++) {
            for (String key : List.of("a", "b", "c")) {
                store.add(message(String.valueOf(i)).key(key));
            }
            store.add(message("free"));
        }

        batches.pollOnce(BatchCalls::allDone);

        Map<String, List<String>> byKey = new LinkedHashMap<>();
        for (List<WorkItem> items : batches.calls) {
            List<String> keys =
                    items.stream().map(WorkItem::key).filter(Objects::nonNull).toList();
            assertThat(keys).doesNotHaveDuplicates();
            items.stream()
                    .filter(item -> item.key() != null)
                    .forEach(item -> byKey.computeIfAbsent(item.key(), k -> new ArrayList<>())
                            .add(item.payload()));
        }
        assertThat(byKey)
                .hasSize(3)
                .allSatisfy((key, payloads) -> assertThat(payloads).containsExactly("0", "1", "2", "3", "4", "5"));
        assertThat(batches.calls.get(0))
                .as("all keys and all free items go at once")
                .hasSize(9);
    }

    @Test
    void aFailingItemStopsItsKeyAndTheRestIsGivenBackUncounted() {
        List<String> failing = store.add(run("failing", 3));
        List<String> healthy = store.add(run("healthy", 3));

        batches.pollOnce(items -> items.stream()
                .map(item -> "failing".equals(item.key()) && "1".equals(item.payload())
                        ? Outcome.retry(new IOException("down"))
                        : Outcome.done())
                .toList());

        assertThat(state(store, failing.get(0)).status()).isEqualTo(Status.DONE);
        assertThat(state(store, failing.get(1)))
                .isEqualTo(new ItemState(failing.get(1), Status.READY, 1, "java.io.IOException: down"));
        assertThat(state(store, failing.get(2))).isEqualTo(new ItemState(failing.get(2), Status.READY, 0, null));
        assertThat(healthy).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.DONE));
        assertThat(batches.events.of(OutboxEvent.Released.class))
                .extracting(released -> released.item().id())
                .containsExactly(failing.get(2));
    }

    @Test
    void aDeadItemLetsItsKeyGoOn() {
        List<String> ids = store.add(run("k", 3));

        batches.pollOnce(items -> items.stream()
                .map(item -> "0".equals(item.payload()) ? Outcome.dead(new IOException("bad")) : Outcome.done())
                .toList());

        assertThat(ids.stream().map(id -> status(store, id))).containsExactly(Status.DEAD, Status.DONE, Status.DONE);
    }

    @Test
    void theItemsOfACallCannotBeChanged() {
        store.add(unkeyed(2));

        batches.pollOnce(items -> {
            assertThatThrownBy(() -> items.remove(0)).isInstanceOf(UnsupportedOperationException.class);
            return BatchCalls.allDone(items);
        });
    }

    @Test
    void outOfMemoryIsAFailedAttemptAndLeavesNoItemBehind() {
        List<String> free = store.add(unkeyed(2));
        List<String> keyed = store.add(run("k", 2));

        batches.pollOnce(items -> {
            throw new OutOfMemoryError("heap");
        });

        assertThat(free).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.READY));
        assertThat(keyed).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.READY));
        assertThat(state(store, keyed.get(1)).attempts())
                .as("it was not part of the call")
                .isZero();
    }

    @Test
    @SuppressWarnings("try")
    void aStartedPollerHandsOverManyItemsPerCallToo() {
        store.add(unkeyed(20));
        store.add(run("k", 3));

        try (Poller poller = batches.poller(BatchCalls::allDone).start()) {
            Fixture.awaitAllDone(store);
        }

        assertThat(batches.calls).anySatisfy(items -> assertThat(items).hasSizeGreaterThan(1));
    }
}
