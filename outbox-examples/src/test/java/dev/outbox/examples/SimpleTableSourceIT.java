package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Ack;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.testkit.ManualClock;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SimpleTableSourceIT {
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final ClaimRequest REQUEST = new ClaimRequest(10, LEASE, 3, Set.of(), "test");

    private static final EventsTable EVENTS = new EventsTable();

    private final ManualClock clock = new ManualClock();
    private final SimpleTableSource source = new SimpleTableSource(EVENTS.dataSource, Ack.DELETE, clock);
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final Destination broker = item -> sent.add(item.key() + " " + item.payload());

    @BeforeEach
    void emptyTable() {
        EVENTS.execute("TRUNCATE outbox_events");
    }

    @Test
    void anEmptyTableSendsNothing() {
        assertThat(pollTo(broker)).isZero();

        assertThat(sent).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Ack.class)
    void everythingIsSentAndAcknowledged(Ack ack) {
        EVENTS.insert("order-1", 1);
        EVENTS.insert("order-1", 2);
        EVENTS.insert("order-2", 1);

        assertThat(poller(new SimpleTableSource(EVENTS.dataSource, ack, clock), broker)
                        .pollOnce())
                .isEqualTo(3);

        assertThat(sent).containsExactlyInAnyOrder("order-1 1", "order-1 2", "order-2 1");
        assertThat(EVENTS.unsent()).isEmpty();
        assertThat(EVENTS.query("SELECT id FROM outbox_events WHERE sent_at IS NOT NULL"))
                .hasSize(ack == Ack.KEEP ? 3 : 0);
        assertThat(pollTo(broker)).as("a second time").isZero();
    }

    @Test
    void whatTheDestinationRefusesIsNotAcknowledged() {
        EVENTS.insert("order-1", 1);

        pollTo(item -> {
            throw new IOException("refused");
        });

        assertThat(EVENTS.unsent()).containsExactly("order-1 1");
    }

    @Test
    void aFailureStopsOnlyItsEntity() {
        for (int sequence = 1; sequence <= 3; sequence++) {
            EVENTS.insert("bad", sequence);
            EVENTS.insert("good", sequence);
        }

        pollTo(item -> {
            if (item.key().equals("bad") && item.payload().equals("2")) {
                throw new IOException("refused");
            }
            broker.deliver(item);
        });

        assertThat(of("good")).containsExactly("good 1", "good 2", "good 3");
        assertThat(of("bad")).containsExactly("bad 1");
        assertThat(EVENTS.unsent()).containsExactly("bad 2", "bad 3");
        assertThat(pollTo(broker)).as("before the retry is due").isZero();

        clock.advance(Duration.ofHours(1));
        pollTo(broker);
        assertThat(of("bad")).containsExactly("bad 1", "bad 2", "bad 3");
    }

    @Test
    void eventsOfAnEntityInsertedOutOfOrderArriveInOrder() {
        for (int sequence : new int[] {3, 1, 5, 2, 4}) {
            EVENTS.insert("order-1", sequence);
        }

        pollTo(broker);

        assertThat(sent).containsExactly("order-1 1", "order-1 2", "order-1 3", "order-1 4", "order-1 5");
    }

    @Test
    void whileTheBrokerIsDownAllRowsRemain() {
        for (int sequence = 1; sequence <= 3; sequence++) {
            EVENTS.insert("order-1", sequence);
            EVENTS.insert("order-2", sequence);
        }
        List<String> all = EVENTS.unsent();

        for (int poll = 0; poll < 3; poll++) {
            pollTo(item -> {
                throw new IOException("broker down");
            });
            clock.advance(Duration.ofHours(1));
        }

        assertThat(EVENTS.unsent()).isEqualTo(all);
        pollTo(broker);
        assertThat(of("order-1")).containsExactly("order-1 1", "order-1 2", "order-1 3");
        assertThat(of("order-2")).containsExactly("order-2 1", "order-2 2", "order-2 3");
    }

    @Test
    void fifteenItemsGoInThreeBatchesOfFive() {
        for (int sequence = 1; sequence <= 15; sequence++) {
            EVENTS.insert("order-1", sequence);
        }
        Poller poller = poller(source, broker);

        assertThat(List.of(poller.pollOnce(), poller.pollOnce(), poller.pollOnce(), poller.pollOnce()))
                .containsExactly(5, 5, 5, 0);

        assertThat(sent).hasSize(15);
        assertThat(sent.get(0)).isEqualTo("order-1 1");
        assertThat(sent.get(14)).isEqualTo("order-1 15");
    }

    @Test
    void aRunningPollerKeepsTheOrderOfEveryEntity() {
        List<String> expected = new ArrayList<>();
        for (int sequence = 1; sequence <= 20; sequence++) {
            for (int order = 1; order <= 5; order++) {
                EVENTS.insert("order-" + order, sequence);
            }
            expected.add(String.valueOf(sequence));
        }
        SimpleTableSource running = new SimpleTableSource(EVENTS.dataSource, Ack.DELETE, Clock.systemUTC());

        try (Poller poller = Poller.from(running).to(broker).batchSize(7).start()) {
            poller.wakeUp();
            await().atMost(Duration.ofMinutes(2)).until(() -> EVENTS.unsent().isEmpty());
        }

        for (int order = 1; order <= 5; order++) {
            String entity = "order-" + order;
            assertThat(of(entity))
                    .isEqualTo(expected.stream().map(s -> entity + " " + s).toList());
        }
    }

    @Test
    void aPermanentFailureIsMarkedAndTheEntityGoesOn() {
        EVENTS.insert("order-1", 1);
        EVENTS.insert("order-1", 2);

        pollTo(item -> {
            if (item.payload().equals("1")) {
                throw new PermanentFailureException("no such account");
            }
            broker.deliver(item);
        });

        assertThat(sent).containsExactly("order-1 2");
        assertThat(EVENTS.query("SELECT last_error FROM outbox_events WHERE failed_at IS NOT NULL"))
                .singleElement()
                .asString()
                .contains("no such account");
        assertThat(pollTo(broker)).isZero();
    }

    @Test
    void whatACrashedRunnerHadLeasedIsSentByTheNextOne() {
        EVENTS.insert("order-1", 1);
        source.claim(REQUEST);

        poller(new SimpleTableSource(EVENTS.dataSource, Ack.DELETE, clock), broker)
                .pollOnce();

        assertThat(sent).containsExactly("order-1 1");
    }

    @Test
    void aLeasedEntityIsNotClaimedAgainUntilItsLeaseRunsOut() {
        EVENTS.insert("order-1", 1);
        EVENTS.insert("order-1", 2);
        Claim first = source.claim(REQUEST.count(1));
        assertThat(source.claim(REQUEST).items()).isEmpty();

        clock.advance(LEASE);
        Claim second = source.claim(REQUEST);

        assertThat(second.items()).extracting(WorkItem::attempt).containsExactly(2, 1);
        Lease lost = first.lease(first.items().get(0));
        assertThat(source.settle(List.of(Settlement.done(lost))).lost()).containsExactly(lost);
        assertThat(source.renew(List.of(lost), LEASE).lost()).containsExactly(lost);
        assertThat(EVENTS.unsent()).hasSize(2);
    }

    @Test
    void aRenewedLeaseLasts() {
        EVENTS.insert("order-1", 1);
        Claim claim = source.claim(REQUEST);
        Lease lease = claim.lease(claim.items().get(0));

        clock.advance(LEASE.dividedBy(2));
        assertThat(source.renew(List.of(lease), LEASE).lost()).isEmpty();
        clock.advance(LEASE.dividedBy(2));

        assertThat(source.claim(REQUEST).items()).isEmpty();
    }

    @Test
    void anEventWhoseLeasesAllRanOutIsMarkedAndReported() {
        EVENTS.insert("order-1", 1);
        for (int attempt = 1; attempt <= REQUEST.maxAttempts(); attempt++) {
            assertThat(source.claim(REQUEST).items()).hasSize(1);
            clock.advance(LEASE);
        }

        Claim last = source.claim(REQUEST);

        assertThat(last.items()).isEmpty();
        assertThat(last.dead()).extracting(WorkItem::payload).containsExactly("1");
        assertThat(EVENTS.query("SELECT id FROM outbox_events WHERE failed_at IS NOT NULL"))
                .hasSize(1);
    }

    @Test
    void aRetryGivesTheLaterEventsOfItsEntityBackUnattempted() {
        EVENTS.insert("order-1", 1);
        EVENTS.insert("order-1", 2);
        Claim claim = source.claim(REQUEST);

        source.settle(List.of(Settlement.retry(claim.lease(claim.items().get(0)), LEASE, "refused")));

        assertThat(source.nextDue(Set.of())).contains(LEASE);
        assertThat(source.nextDue(Set.of("another"))).isEmpty();
        clock.advance(LEASE);
        assertThat(source.claim(REQUEST).items()).extracting(WorkItem::attempt).containsExactly(2, 1);
    }

    @Test
    void anAcknowledgementThatFailsCanBeRepeated() {
        EVENTS.insert("order-1", 1);
        Claim claim = source.claim(REQUEST);
        List<Settlement> done =
                List.of(Settlement.done(claim.lease(claim.items().get(0))));

        EVENTS.execute("ALTER TABLE outbox_events RENAME TO away");
        assertThatThrownBy(() -> source.settle(done)).isInstanceOf(OutboxException.class);
        EVENTS.execute("ALTER TABLE away RENAME TO outbox_events");

        assertThat(source.settle(done).lost()).isEmpty();
        assertThat(EVENTS.unsent()).isEmpty();
    }

    /** Polls until nothing is left to claim now. */
    private int pollTo(Destination destination) {
        Poller poller = poller(source, destination);
        int total = 0;
        int claimed;
        do {
            claimed = poller.pollOnce();
            total += claimed;
        } while (claimed > 0);
        return total;
    }

    private static Poller poller(SimpleTableSource source, Destination destination) {
        RetryPolicy retry = RetryPolicy.standard()
                .baseDelay(Duration.ofMinutes(1))
                .maxDelay(Duration.ofHours(1))
                .maxAttempts(1_000);
        return Poller.from(source).to(destination).retry(retry).batchSize(5).build();
    }

    private List<String> of(String entity) {
        return sent.stream().filter(event -> event.startsWith(entity + " ")).toList();
    }
}
