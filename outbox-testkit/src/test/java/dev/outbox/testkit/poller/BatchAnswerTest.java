package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers of a batch destination that say too little, too much or nothing. */
@Timeout(60)
class BatchAnswerTest {
    private final BatchCalls batches = new BatchCalls();
    private final InMemoryStore store = batches.store;

    @Test
    void anAnswerThatIsTooShortSaysNothingAboutAnyItemAndTheyAreCalledInHalves() {
        List<String> ids = store.add(unkeyed(3));

        batches.pollOnce(items -> List.of(Outcome.done()));

        assertThat(batches.calls).extracting(List::size).containsExactly(3, 1, 2, 1, 1);
        assertThat(ids).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.DONE));
    }

    @Test
    void anItemWithoutAnOutcomeIsRetried() {
        List<String> ids = store.add(unkeyed(2));

        batches.pollOnce(items -> Arrays.asList(Outcome.done(), null));

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

        batches.poller(items -> items.stream()
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

        assertThat(batches.calls).hasSize(1);
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

        batches.poller(items -> {
                    if (items.stream().anyMatch(item -> item.payload().equals("1"))) {
                        throw new Unreadable();
                    }
                    return BatchCalls.allDone(items);
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

        batches.pollOnce(items -> Collections.nCopies(3, Outcome.done()));

        assertThat(ids).allSatisfy(id -> {
            assertThat(status(store, id)).isEqualTo(Status.READY);
            assertThat(state(store, id).lastError()).contains("gave 3 outcomes for 1 items");
            assertThat(state(store, id).attempts()).isOne();
        });
    }

    @Test
    void noAnswerIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(2));

        batches.pollOnce(items -> null);

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id).lastError()).contains("gave no outcomes"));
    }

    @Test
    void aMissingOutcomeIsARetryOfThatItem() {
        List<String> ids = store.add(unkeyed(3));

        batches.pollOnce(items -> Arrays.asList(Outcome.done(), null, Outcome.done()));

        assertThat(status(store, ids.get(1))).isEqualTo(Status.READY);
        assertThat(state(store, ids.get(1)).attempts()).isOne();
    }

    @Test
    void anAnswerThatFailsWhenItIsLookedAtIsARetryOfAll() {
        List<String> ids = store.add(unkeyed(2));

        batches.pollOnce(LazyOutcomes::new);

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
}
