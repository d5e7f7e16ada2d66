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
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchDeliveryTest {
    private final ManualClock clock = new ManualClock();
    private final InMemoryStore store = new InMemoryStore(clock);
    private final Events events = new Events();
    private final List<List<WorkItem>> calls = new CopyOnWriteArrayList<>();

    private int pollOnce(BatchDestination destination) {
        return builder(destination).build().pollOnce();
    }

    private PollerBuilder builder(BatchDestination destination) {
        return Poller.from(store.source())
                .toBatch(items -> {
                    calls.add(items);
                    return destination.deliver(items);
                })
                .listener(events);
    }

    private static List<Outcome> allDone(List<WorkItem> items) {
        return Collections.nCopies(items.size(), Outcome.done());
    }

    @Test
    void everyItemGetsItsOwnOutcome() {
        List<String> ids = store.add(unkeyed(4));

        pollOnce(items -> items.stream()
                .map(item -> switch (item.payload()) {
                    case "0" -> Outcome.done();
                    case "1" -> Outcome.retry(new IOException("down"));
                    case "2" -> Outcome.retryAfter(Duration.ofMinutes(1), "throttled");
                    default -> Outcome.dead(new IOException("refused"));
                })
                .toList());

        assertThat(calls).singleElement().satisfies(items -> assertThat(items).hasSize(4));
        assertThat(state(store, ids.get(1)))
                .isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "java.io.IOException: down"));
        assertThat(state(store, ids.get(2)))
                .isEqualTo(new ItemState(
                        ids.get(2), Status.READY, 0, "dev.outbox.delivery.RetryAfterException: throttled"));
        assertThat(state(store, ids.get(3)).lastError()).isEqualTo("java.io.IOException: refused");
    }

    @Test
    void anAnswerThatIsTooShortSaysNothingAboutAnyItemAndTheyAreCalledInHalves() {
        List<String> ids = store.add(unkeyed(3));

        pollOnce(items -> List.of(Outcome.done()));

        assertThat(calls).extracting(List::size).containsExactly(3, 1, 2, 1, 1);
        assertThat(ids).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.DONE));
    }

    @Test
    void anItemWithoutAnOutcomeIsRetried() {
        List<String> ids = store.add(unkeyed(2));

        pollOnce(items -> Arrays.asList(Outcome.done(), null));

        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
        assertThat(state(store, ids.get(1)).attempts()).isOne();
        assertThat(state(store, ids.get(1)).lastError()).contains("gave null for this item");
    }

    /** An exception that nobody can read. */
    private static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new LinkageError("no message");
        }

        @Override
        public synchronized Throwable getCause() {
            throw new LinkageError("no cause");
        }
    }

    @Test
    void anOutcomeThatCannotBeJudgedIsAFailureOfItsItemAlone() {
        List<String> ids = store.add(unkeyed(4));

        builder(items -> items.stream()
                        .map(item -> switch (item.payload()) {
                            case "1" -> Outcome.retry(new Unreadable());
                            case "2" -> Outcome.retry(new IOException("the predicate fails on it"));
                            default -> Outcome.done();
                        })
                        .toList())
                .outage(e -> {
                    if (e instanceof Unreadable) {
                        return false;
                    }
                    throw new LinkageError("outage");
                })
                .build()
                .pollOnce();

        assertThat(calls).hasSize(1);
        assertThat(ids)
                .extracting(id -> status(store, id))
                .containsExactly(Status.DONE, Status.READY, Status.READY, Status.DONE);
        assertThat(state(store, ids.get(1)).attempts()).isOne();
        assertThat(state(store, ids.get(1)).lastError()).contains("its message could not be read");
        assertThat(state(store, ids.get(2)).lastError()).contains("the predicate fails on it");
    }

    @Test
    void aCallThatThrowsWhatNobodyCanReadIsRepeatedInHalvesLikeAnyOther() {
        List<String> ids = store.add(unkeyed(4));

        builder(items -> {
                    if (items.stream().anyMatch(item -> item.payload().equals("1"))) {
                        throw new Unreadable();
                    }
                    return allDone(items);
                })
                .build()
                .pollOnce();

        assertThat(ids)
                .extracting(id -> status(store, id))
                .containsExactly(Status.DONE, Status.READY, Status.DONE, Status.DONE);
    }

    @Test
    void anAnswerThatIsTooLongSaysNothingAboutAnyItem() {
        List<String> ids = store.add(unkeyed(2));

        pollOnce(items -> Collections.nCopies(3, Outcome.done()));

        assertThat(ids).allSatisfy(id -> {
            assertThat(status(store, id)).isEqualTo(Status.READY);
            assertThat(state(store, id).lastError()).contains("gave 3 outcomes for 1 items");
            assertThat(state(store, id).attempts()).isOne();
        });
    }

    @Test
    void noAnswerIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(2));

        pollOnce(items -> null);

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id).lastError()).contains("gave no outcomes"));
    }

    @Test
    void aMissingOutcomeIsARetryOfThatItem() {
        List<String> ids = store.add(unkeyed(3));

        pollOnce(items -> Arrays.asList(Outcome.done(), null, Outcome.done()));

        assertThat(status(store, ids.get(1))).isEqualTo(Status.READY);
        assertThat(state(store, ids.get(1)).attempts()).isOne();
    }

    @Test
    void anExceptionIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(3));

        pollOnce(items -> {
            throw new IOException("broker is down");
        });

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id))
                        .isEqualTo(new ItemState(id, Status.READY, 1, "java.io.IOException: broker is down")));
    }

    @Test
    void anAnswerThatFailsWhenItIsLookedAtIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(2));

        pollOnce(LazyOutcomes::new);

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id).lastError()).contains("future failed"));
    }

    /** Like a view over futures that are awaited one by one. */
    private static final class LazyOutcomes extends AbstractList<Outcome> {
        private final int size;

        LazyOutcomes(List<WorkItem> items) {
            size = items.size();
        }

        @Override
        public Outcome get(int index) {
            throw new IllegalStateException("future failed");
        }

        @Override
        public int size() {
            return size;
        }
    }

    @Test
    void aPermanentFailureOfTheWholeCallCondemnsOnlyTheItemThatHasItAlone() {
        List<String> ids = store.add(unkeyed(5));

        pollOnce(items -> {
            if (items.stream().anyMatch(item -> item.payload().equals("3"))) {
                throw new PermanentFailureException("one of them is bad");
            }
            return allDone(items);
        });

        assertThat(ids.stream().map(id -> status(store, id)))
                .containsExactly(Status.DONE, Status.DONE, Status.DONE, Status.DEAD, Status.DONE);
    }

    @Test
    void retryAfterOfTheWholeCallCountsNoAttempt() {
        List<String> ids = store.add(unkeyed(2));

        pollOnce(items -> {
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

        pollOnce(BatchDeliveryTest::allDone);

        Map<String, List<String>> byKey = new LinkedHashMap<>();
        for (List<WorkItem> items : calls) {
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
        assertThat(calls.get(0)).as("all keys and all free items go at once").hasSize(9);
    }

    @Test
    void aFailingItemStopsItsKeyAndTheRestIsGivenBackUncounted() {
        List<String> failing = store.add(run("failing", 3));
        List<String> healthy = store.add(run("healthy", 3));

        pollOnce(items -> items.stream()
                .map(item -> "failing".equals(item.key()) && "1".equals(item.payload())
                        ? Outcome.retry(new IOException("down"))
                        : Outcome.done())
                .toList());

        assertThat(state(store, failing.get(0)).status()).isEqualTo(Status.DONE);
        assertThat(state(store, failing.get(1)))
                .isEqualTo(new ItemState(failing.get(1), Status.READY, 1, "java.io.IOException: down"));
        assertThat(state(store, failing.get(2))).isEqualTo(new ItemState(failing.get(2), Status.READY, 0, null));
        assertThat(healthy).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.DONE));
        assertThat(events.of(OutboxEvent.Released.class))
                .extracting(released -> released.item().id())
                .containsExactly(failing.get(2));
    }

    @Test
    void aDeadItemLetsItsKeyGoOn() {
        List<String> ids = store.add(run("k", 3));

        pollOnce(items -> items.stream()
                .map(item -> "0".equals(item.payload()) ? Outcome.dead(new IOException("bad")) : Outcome.done())
                .toList());

        assertThat(ids.stream().map(id -> status(store, id))).containsExactly(Status.DEAD, Status.DONE, Status.DONE);
    }

    @Test
    void theItemsOfACallCannotBeChanged() {
        store.add(unkeyed(2));

        pollOnce(items -> {
            assertThatThrownBy(() -> items.remove(0)).isInstanceOf(UnsupportedOperationException.class);
            return allDone(items);
        });
    }

    @Test
    void outOfMemoryIsAFailedAttemptAndLeavesNoItemBehind() {
        List<String> free = store.add(unkeyed(2));
        List<String> keyed = store.add(run("k", 2));

        pollOnce(items -> {
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

        try (Poller poller = builder(BatchDeliveryTest::allDone).start()) {
            Fixture.awaitAllDone(store);
        }

        assertThat(calls).anySatisfy(items -> assertThat(items).hasSizeGreaterThan(1));
    }
}
