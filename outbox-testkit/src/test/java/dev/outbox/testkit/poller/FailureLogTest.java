package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What operators read in the log about items that fail. */
@SuppressWarnings("try")
class FailureLogTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);

    private PollerBuilder poller(Throwable failure) {
        return Poller.from(store.source())
                .to(item -> {
                    if (failure instanceof Exception exception) {
                        throw exception;
                    }
                    throw (Error) failure;
                })
                .name("node-1")
                .ticker(time::ticker);
    }

    @Test
    void aFailedAttemptIsAWarningThatNamesEverythingButTheContent() {
        String id = store.add(Message.to("orders.placed")
                        .id("order-7")
                        .key("customer-3")
                        .header("token", "secret header")
                        .payload("secret payload"))
                .get(0);
        try (CapturedLog log = new CapturedLog()) {
            poller(new IOException("no route")).build().pollOnce();

            assertThat(log.warnings())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains(
                                    "poller node-1",
                                    "attempt 1 failed",
                                    "table InMemorySource",
                                    "topic orders.placed",
                                    "key customer-3",
                                    "item " + id,
                                    "message order-7"));
            assertThat(log.text())
                    .contains("java.io.IOException: no route", "at dev.outbox.testkit.poller.FailureLogTest")
                    .doesNotContain("secret");
        }
    }

    @Test
    void aDeathIsAnErrorAndSoIsAnErrorThatWasSurvived() {
        store.add(message("a"));
        try (CapturedLog log = new CapturedLog()) {
            poller(new PermanentFailureException("no such customer")).build().pollOnce();

            assertThat(log.errors())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("Dead after attempt 1", "topic t"));
            assertThat(log.warnings()).isEmpty();
        }
        store.add(message("b"));
        try (CapturedLog log = new CapturedLog()) {
            poller(new OutOfMemoryError("heap")).build().pollOnce();

            assertThat(log.errors())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("survived an error in the destination"));
        }
    }

    @Test
    void whatADestinationAskedForIsNoWarning() {
        store.add(message("a"));
        try (CapturedLog log = new CapturedLog()) {
            poller(new RetryAfterException(MINUTE, "throttled")).build().pollOnce();

            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void linesAreLimitedPerTopicAndMinuteAndTheRestIsCounted() {
        store.add(unkeyed(25));
        store.add(Message.to("other").payload("{}"));
        Poller poller = poller(new IOException("down")).build();
        try (CapturedLog log = new CapturedLog()) {
            poller.pollOnce();

            assertThat(log.warnings())
                    .filteredOn(line -> line.contains("topic t,"))
                    .hasSize(10);
            assertThat(log.warnings())
                    .filteredOn(line -> line.contains("topic other,"))
                    .hasSize(1);
        }
        try (CapturedLog log = new CapturedLog()) {
            time.pass(MINUTE);
            poller.pollOnce();

            assertThat(log.warnings()).first().asString().contains("15 more lines of this kind", "topic t");
        }
    }

    @Test
    void aSettleThatIsFencedIsAWarningThatNamesTheItemAndIsLimitedToo() {
        List<String> ids = store.add(unkeyed(25));
        Poller poller = Poller.from(store.source())
                .to(item -> {
                    if (item.id().equals(ids.get(0))) {
                        time.passInStore(MINUTE);
                        claimAsRival(store.source());
                    }
                })
                .name("late")
                .ticker(time::ticker)
                .build();
        try (CapturedLog log = new CapturedLog()) {
            poller.pollOnce();

            assertThat(log.warnings())
                    .hasSize(10)
                    .first()
                    .asString()
                    .contains(
                            "poller late: the settle was fenced",
                            "table InMemorySource, topic t",
                            "item " + ids.get(0));
        }
    }

    @Test
    void aLeaseThatTheRenewerLosesIsAWarningThatNamesTheItem() throws Exception {
        Duration lease = Duration.ofMillis(600);
        String id = store.add(message("a")).get(0);
        Gate gate = new Gate();
        Events events = new Events();
        try (CapturedLog log = new CapturedLog()) {
            try (Poller poller = Poller.from(store.source())
                    .to(gate)
                    .lease(lease)
                    .listener(events)
                    .ticker(time::ticker)
                    .start()) {
                gate.awaitArrival();
                time.passForPoller(lease);
                await("it is lost").until(() -> events.lost().contains(id));
            }

            assertThat(log.warnings())
                    .filteredOn(line -> line.contains("the lease was lost"))
                    .singleElement()
                    .asString()
                    .contains("1 items, the first is: table InMemorySource, topic t", "item " + id);
        }
    }

    @Test
    void textFromOutsideForgesNoLine() {
        String forged = "x\n[main] ERROR dev.outbox.delivery.Poller - all is lost\r\n\u2028";
        store.add(Message.to("topic " + forged).key("key " + forged).payload("{}"));
        try (CapturedLog log = new CapturedLog()) {
            poller(new IOException("message " + forged, new IllegalStateException("cause " + forged)))
                    .build()
                    .pollOnce();

            assertThat(log.text().lines()).noneMatch(line -> line.startsWith("[main] ERROR"));
            assertThat(log.warnings()).hasSize(1);
        }
    }

    @Test
    void aLeaseThatWasReclaimedIsAWarning() {
        String id = store.add(message("a")).get(0);
        store.source().claim(new ClaimRequest(1, MINUTE, 10, Set.of(), "a worker that dies"));
        time.pass(MINUTE);
        try (CapturedLog log = new CapturedLog()) {
            Poller.from(store.source()).to(item -> {}).name("node-1").build().pollOnce();

            assertThat(log.warnings())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("the lease expired on attempt 1", "item " + id));
        }
    }
}
