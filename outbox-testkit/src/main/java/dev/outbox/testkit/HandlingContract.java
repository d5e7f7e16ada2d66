package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.CONSUMER;
import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.TOPIC;
import static dev.outbox.testkit.InboxScenario.assertItem;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static dev.outbox.testkit.InboxScenario.known;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.Priority;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.delivery.UnroutedTopic;
import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The inbox as a work queue: effects and settle commit together, or not at all. */
interface HandlingContract {
    @Test
    default void aHandlerGetsWhatWasEnqueuedAndItsEffectCommitsWithDone(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.KEYS);
        Inbox inbox = scenario.inbox();
        scenario.enqueue(
                inbox,
                item("m-1")
                        .key("o-1")
                        .header("traceparent", "00-1")
                        .type("order")
                        .correlationId("c-1")
                        .tenantId("t-1")
                        .contentType("application/json")
                        .priority(Priority.HIGH));
        List<WorkItem> handled = new ArrayList<>();

        scenario.poll(inbox, TransactionalDestination.byTopic().route(TOPIC, (tx, item) -> {
            handled.add(item);
            scenario.writeEffect(tx, item.messageId());
        }));

        WorkItem item = handled.get(0);
        assertThat(item.source()).isEqualTo(SOURCE);
        assertThat(item.messageId()).isEqualTo("m-1");
        assertThat(item.payload()).isEqualTo("payload of m-1");
        assertThat(item.key()).isEqualTo("o-1");
        assertThat(item.headers()).containsEntry("traceparent", "00-1").containsValue("order");
        assertThat(item.correlationId()).isEqualTo("c-1");
        assertThat(item.tenantId()).isEqualTo("t-1");
        assertThat(item.contentType()).isEqualTo("application/json");
        assertThat(item.message().priority()).isEqualTo(Priority.HIGH);
        assertItem(inbox, "m-1", Status.DONE, 1);
        assertThat(scenario.effects()).containsExactly("m-1");
        assertThat(scenario.poll(inbox, scenario.writingEffects())).isZero();
    }

    @Test
    default void aHandlerThatThrowsLeavesNothingBehindButTheAttempt(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));

        scenario.poll(inbox, (tx, item) -> {
            scenario.writeEffect(tx, item.messageId());
            throw new IllegalStateException("out of paper");
        });

        assertThat(scenario.effects()).isEmpty();
        assertItem(inbox, "m-1", Status.READY, 1);
        assertThat(known(inbox, "m-1").lastError()).contains("out of paper");
        scenario.advance(Duration.ofSeconds(1));
        scenario.poll(inbox, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactly("m-1");
        assertItem(inbox, "m-1", Status.DONE, 2);
    }

    @Test
    default void anItemThatFailsEveryTimeEndsDeadWithoutEffect(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));

        for (int attempt = 1; attempt <= SourceScenario.MAX_ATTEMPTS; attempt++) {
            scenario.poll(inbox, (tx, item) -> {
                scenario.writeEffect(tx, item.messageId());
                throw new IllegalStateException("never");
            });
            scenario.advance(Duration.ofSeconds(1));
        }

        assertItem(inbox, "m-1", Status.DEAD, SourceScenario.MAX_ATTEMPTS);
        assertThat(scenario.effects()).isEmpty();
    }

    @Test
    default void duplicatesChangeNeitherAttemptsNorContentNorStatus(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.KEYS);
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));
        scenario.poll(inbox, (tx, item) -> {
            throw new IllegalStateException("not now");
        });
        InboxRecord before = known(inbox, "m-1");

        List<Receipt> receipts = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            receipts.addAll(scenario.enqueue(
                    inbox, item("m-1").topic("other.topic").key("other").dueIn(Duration.ofDays(1))));
            receipts.add(scenario.commit(tx -> inbox.receive(tx, incoming("m-1"))));
        }

        assertThat(receipts).extracting(Receipt::kind).containsOnly(Kind.DUPLICATE);
        assertThat(receipts).extracting(Receipt::receipts).containsExactly(2, 3, 4, 5, 6, 7);
        assertThat(known(inbox, "m-1"))
                .usingRecursiveComparison()
                .ignoringFields("receipts", "lastSeen")
                .isEqualTo(before);
        assertItem(inbox, "m-1", Status.READY, 1);
        scenario.advance(Duration.ofSeconds(1));
        scenario.poll(inbox, TransactionalDestination.byTopic().route(TOPIC, scenario.writingEffects()));
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aDuplicateOfAHandledItemIsNotHandledAgain(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));
        scenario.poll(inbox, scenario.writingEffects());

        assertThat(scenario.enqueue(inbox, item("m-1")).get(0).kind()).isEqualTo(Kind.DUPLICATE);

        assertThat(scenario.poll(inbox, scenario.writingEffects())).isZero();
        assertItem(inbox, "m-1", Status.DONE, 1);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aMessageThatWasReceivedIsNotEnqueuedAndTheOtherWayRound(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.receive(inbox, incoming("m-1"));
        scenario.enqueue(inbox, item("m-2"));

        assertThat(scenario.enqueue(inbox, item("m-1")).get(0).kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.receive(inbox, incoming("m-2")).kind()).isEqualTo(Kind.DUPLICATE);

        scenario.poll(inbox, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "m-2");
    }

    @Test
    default void aFencedSettleRollsTheEffectsBack(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));
        List<OutboxEvent> events = new ArrayList<>();

        try (var slow = InboxScenario.pollerOf(inbox)
                .listener(events::add)
                .inTransaction((tx, item) -> {
                    scenario.writeEffect(tx, "of the slow one");
                    scenario.advance(SourceScenario.PAST_LEASE);
                    scenario.poll(inbox, scenario.writingEffects());
                })
                .build()) {
            slow.pollOnce();
        }

        assertThat(scenario.effects()).containsExactly("m-1");
        assertItem(inbox, "m-1", Status.DONE, 2);
        assertThat(events).anyMatch(event -> event instanceof OutboxEvent.Fenced);
    }

    @Test
    default void everyConsumerHandlesItsOwnItems(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.MANY_SOURCES);
        Inbox billing = scenario.inbox();
        Inbox shipping = scenario.inbox(InboxSettings.of("shipping"));
        scenario.enqueue(billing, item("m-1"), item("m-2").key("k"));
        scenario.enqueue(shipping, item("m-1"), item("m-3").key("k"));

        scenario.pollAll(billing, scenario.writingEffects());

        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "m-2");
        assertItem(shipping, "m-1", Status.READY, 0);
        assertItem(shipping, "m-3", Status.READY, 0);
        scenario.pollAll(shipping, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "m-2", "m-1", "m-3");
    }

    @Test
    default void itemsOfAKeyAreHandledInTheirOrder(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.KEYS);
        Inbox inbox = scenario.inbox();
        List<Incoming> incoming = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            incoming.add(item("a-" + i).key("a"));
            incoming.add(item("b-" + i).key("b"));
        }
        scenario.enqueue(inbox, incoming.toArray(Incoming[]::new));
        List<String> handled = new ArrayList<>();

        scenario.pollAll(inbox, (tx, item) -> handled.add(item.messageId()));

        assertThat(handled)
                .filteredOn(id -> id.startsWith("a"))
                .containsExactlyElementsOf(incoming.stream()
                        .map(Incoming::messageId)
                        .filter(id -> id.startsWith("a"))
                        .toList());
        assertThat(handled).hasSize(40);
    }

    @Test
    default void theSameMessageTwiceInOneCallIsStoredOnce(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.RECEIPT_COUNTS);
        Inbox inbox = scenario.inbox();

        List<Receipt> receipts = scenario.enqueue(inbox, item("m-1"), item("m-2"), item("m-1"), item("m-1"));

        assertThat(receipts)
                .extracting(Receipt::kind)
                .containsExactly(Kind.FIRST, Kind.FIRST, Kind.DUPLICATE, Kind.DUPLICATE);
        assertThat(receipts).extracting(Receipt::receipts).containsExactly(1, 1, 2, 3);
        assertThat(scenario.enqueue(inbox)).isEmpty();
        scenario.poll(inbox, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "m-2");
    }

    @Test
    default void anItemWithoutAHandlerIsLeftToOtherPollers(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1").topic("unheard.of"));

        scenario.poll(inbox, TransactionalDestination.byTopic().route(TOPIC, scenario.writingEffects()));

        assertItem(inbox, "m-1", Status.READY, 0);
        scenario.poll(inbox, TransactionalDestination.byTopic().route("unheard.of", scenario.writingEffects()));
        assertItem(inbox, "m-1", Status.DONE, 1);
    }

    @Test
    default void anItemWithoutAHandlerIsRetriedIfThatIsWanted(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1").topic("unheard.of"));

        scenario.poll(
                inbox,
                TransactionalDestination.byTopic()
                        .route(TOPIC, scenario.writingEffects())
                        .otherwise(UnroutedTopic.RETRY));

        assertItem(inbox, "m-1", Status.READY, 1);
        assertThat(known(inbox, "m-1").lastError()).contains("no route for topic unheard.of");
    }

    @Test
    default void anItemWithoutAHandlerIsDeadIfThatIsWanted(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1").topic("unheard.of"));

        scenario.poll(
                inbox,
                TransactionalDestination.byTopic()
                        .route(TOPIC, scenario.writingEffects())
                        .otherwise(UnroutedTopic.DEAD));

        assertItem(inbox, "m-1", Status.DEAD, 1);
        assertThat(known(inbox, "m-1").lastError()).contains("no route for topic unheard.of");
    }

    @Test
    default void anItemWithoutAHandlerIsIgnoredAloudIfThatIsWanted(InboxScenario scenario) throws Exception {
        List<OutboxEvent> events = new ArrayList<>();
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).listener(events::add));
        scenario.enqueue(inbox, item("m-1").topic("unheard.of"));

        scenario.poll(
                inbox,
                TransactionalDestination.byTopic()
                        .route(TOPIC, scenario.writingEffects())
                        .otherwise(UnroutedTopic.IGNORE));

        assertItem(inbox, "m-1", Status.DONE, 1);
        assertThat(scenario.effects()).isEmpty();
        assertThat(events).filteredOn(OutboxEvent.Ignored.class::isInstance).hasSize(1);
    }
}
