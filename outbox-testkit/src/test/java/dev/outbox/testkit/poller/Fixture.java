package dev.outbox.testkit.poller;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Words the poller tests share. */
final class Fixture {
    static final Duration HOUR = Duration.ofHours(1);

    private Fixture() {}

    static ConditionFactory await() {
        return Awaitility.await()
                .dontCatchUncaughtExceptions() // some tests look at them themselves
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofMinutes(2));
    }

    static ConditionFactory await(String what) {
        return await().alias(what);
    }

    static Message message(String payload) {
        return Message.to("t").payload(payload);
    }

    /** That many messages of one key, their payload their number. */
    static List<Message> run(String key, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> message(String.valueOf(i)).key(key))
                .toList();
    }

    static List<Message> unkeyed(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> message(String.valueOf(i)))
                .toList();
    }

    static ItemState state(InMemoryStore store, String id) {
        return store.find(id).orElseThrow();
    }

    static Status status(InMemoryStore store, String id) {
        return state(store, id).status();
    }

    static void awaitStatus(InMemoryStore store, String id, Status status) {
        await("item is " + status).until(() -> status(store, id) == status);
    }

    static void awaitAllDone(InMemoryStore store) {
        await("all are Done").until(() -> store.items().stream().allMatch(item -> item.status() == Status.DONE));
    }

    /** What another poller would get right now. */
    static Claim claimAsRival(Source rival) {
        return rival.claim(new ClaimRequest(1_000, Duration.ofMinutes(1), 10, Set.of(), "rival"));
    }

    /** The live threads of this poller. */
    static List<String> threadsOf(String poller) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .filter(name -> name.startsWith("outbox-" + poller + "-"))
                .sorted()
                .toList();
    }
}
