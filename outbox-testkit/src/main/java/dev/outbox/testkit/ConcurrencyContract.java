package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Source;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Several nodes claim at the same moment. */
interface ConcurrencyContract {
    int NODES = 4;

    private static void onEveryNode(SourceScenario store, NodeLoop loop) throws InterruptedException {
        List<Callable<Void>> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            Source source = store.newSource();
            nodes.add(() -> {
                loop.run(source);
                return null;
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(NODES);
        try {
            for (Future<Void> node : threads.invokeAll(nodes)) {
                node.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError("a node failed: " + e.getCause(), e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    /** What one node does with its source. */
    interface NodeLoop {
        void run(Source source) throws Exception;
    }

    /** Claims and delivers until the source has nothing more. */
    private static void deliverAll(SourceScenario store, Source source, Claim first, Collection<WorkItem> delivered) {
        Claim claim = first;
        while (!claim.items().isEmpty()) {
            delivered.addAll(claim.items());
            store.settleDone(source, claim);
            claim = store.claimSome(source, atMost(7));
        }
    }

    @Test
    default void noItemIsLeasedTwiceByNodesThatClaimAtTheSameMoment(SourceScenario store) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            messages.addAll(times(10, message()));
            messages.add(store.keyedIfPossible("key-" + i, message()));
        }
        List<String> ids = store.enqueueAll(messages);
        Collection<String> claimed = new ConcurrentLinkedQueue<>();

        onEveryNode(
                store,
                source -> claimed.addAll(store.claimAll(source, atMost(7)).ids()));
        store.aMomentLater();
        claimed.addAll(store.claimAll(store.newSource()).ids());

        assertThat(claimed).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    default void keysStayInOrderWhenManyNodesDeliver(SourceScenario store) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            for (int key = 0; key < 10; key++) {
                messages.add(keyed("key-" + key));
            }
            messages.add(message());
        }
        List<String> ids = store.enqueueAll(messages);
        Collection<WorkItem> delivered = new ConcurrentLinkedQueue<>();
        Collection<String> firstKeys = new ConcurrentLinkedQueue<>();
        CyclicBarrier allHaveClaimed = new CyclicBarrier(NODES);

        onEveryNode(store, source -> {
            Claim first = store.claimSome(source, atMost(7));
            first.items().stream()
                    .map(WorkItem::key)
                    .filter(Objects::nonNull)
                    .distinct()
                    .forEach(firstKeys::add);
            allHaveClaimed.await(1, TimeUnit.MINUTES);
            deliverAll(store, source, first, delivered);
        });
        store.aMomentLater();
        Source last = store.newSource();
        deliverAll(store, last, store.claimSome(last, atMost(7)), delivered);

        assertThat(firstKeys).as("keys that were leased at the same moment").doesNotHaveDuplicates();
        assertThat(delivered).extracting(WorkItem::id).containsExactlyInAnyOrderElementsOf(ids);
        for (int key = 0; key < 10; key++) {
            String name = "key-" + key;
            assertThat(delivered)
                    .filteredOn(item -> name.equals(item.key()))
                    .extracting(WorkItem::sequence)
                    .as("deliveries of %s", name)
                    .isSorted();
        }
        store.assertDone(ids);
    }
}
