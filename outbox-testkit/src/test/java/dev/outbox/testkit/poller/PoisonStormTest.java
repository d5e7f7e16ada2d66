package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Thousands of bad messages in a row on a route that accepts messages. */
@Timeout(60)
class PoisonStormTest {
    private static final Duration HALF_A_MINUTE = Duration.ofSeconds(30);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);

    /** When each good message came, by its item. */
    private final Map<String, Long> came = new HashMap<>();

    /** The longest time that one of them took. */
    private Duration slowest = Duration.ZERO;

    private void deliver(WorkItem item) throws IOException {
        if (item.payload().equals("bad")) {
            throw new IOException("no");
        }
        Duration took = Duration.ofNanos(time.ticker() - came.get(item.id()));
        slowest = took.compareTo(slowest) > 0 ? took : slowest;
    }

    private Outcome outcome(WorkItem item) {
        try {
            deliver(item);
            return Outcome.done();
        } catch (IOException e) {
            return Outcome.retry(e);
        }
    }

    private Poller poller(String form) {
        var from = Poller.from(store.source());
        return (form.equals("to")
                        ? from.to(this::deliver)
                        : from.toBatch(
                                items -> items.stream().map(this::outcome).toList()))
                .ticker(time::ticker)
                .build();
    }

    private void addGood() {
        came.put(store.add(message("good")).get(0), time.ticker());
    }

    @ParameterizedTest
    @CsvSource({"to, 2000, 2", "toBatch, 2000, 2", "to, 6000, 5", "toBatch, 6000, 5"})
    void aBurstOfBadMessagesDelaysTheGoodOnesBehindItForSeconds(String form, int bad, int seconds) {
        List<Poller> pollers = List.of(poller(form));
        time.pollFor(TestTime.STEP, pollers, this::addGood);
        store.add(IntStream.range(0, bad).mapToObj(i -> message("bad")).toList());

        time.pollFor(HALF_A_MINUTE, pollers, this::addGood);
        time.pollFor(Duration.ofSeconds(seconds), pollers, () -> {});

        assertThat(count(Status.DONE)).isEqualTo(came.size());
        assertThat(slowest).isLessThanOrEqualTo(Duration.ofSeconds(seconds));
    }

    private long count(Status status) {
        return store.items().stream()
                .map(ItemState::status)
                .filter(status::equals)
                .count();
    }
}
