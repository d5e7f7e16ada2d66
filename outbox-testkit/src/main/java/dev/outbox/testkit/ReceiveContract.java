package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.CONSUMER;
import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static dev.outbox.testkit.InboxScenario.known;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.Status;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Deduplication in the caller's transaction. */
interface ReceiveContract {
    @Test
    default void theFirstArrivalIsFirstAndEveryOtherIsADuplicate(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.RECEIPT_COUNTS);
        Inbox inbox = scenario.inbox();

        Receipt first = scenario.receive(inbox, incoming("m-1"));
        Receipt second = scenario.receive(inbox, incoming("m-1"));
        Receipt third = scenario.receive(scenario.inbox(), incoming("m-1"));

        assertThat(List.of(first, second, third))
                .extracting(Receipt::kind)
                .containsExactly(Kind.FIRST, Kind.DUPLICATE, Kind.DUPLICATE);
        assertThat(List.of(first, second, third)).extracting(Receipt::receipts).containsExactly(1, 2, 3);
        assertThat(List.of(second, third)).extracting(Receipt::firstSeen).containsOnly(first.firstSeen());
        assertThat(third.lastSeen()).isAfterOrEqualTo(second.lastSeen()).isAfter(first.lastSeen());
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aRepetitionInTheSameTransactionIsADuplicate(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();

        Receipt second = scenario.commit(tx -> {
            scenario.receive(tx, inbox, incoming("m-1"));
            return scenario.receive(tx, inbox, incoming("m-1"));
        });

        assertThat(second.kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aRollbackTakesTheRecordAlong(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        try (Connection tx = scenario.begin()) {
            assertThat(scenario.receive(tx, inbox, incoming("m-1")).isFirst()).isTrue();
            tx.rollback();
        }

        assertThat(inbox.get(SOURCE, "m-1")).isEmpty();
        assertThat(scenario.receive(inbox, incoming("m-1")).isFirst()).isTrue();
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void everyConsumerGetsAMessageOnceAndSourcesDoNotCollide(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.MANY_SOURCES);
        Inbox billing = scenario.inbox();
        Inbox shipping = scenario.inbox(InboxSettings.of("shipping"));
        Incoming other = Incoming.from("warehouse", "m-1").payload("another message");

        List<Receipt> receipts = new ArrayList<>();
        for (Inbox inbox : List.of(billing, shipping)) {
            for (Incoming incoming : List.of(incoming("m-1"), other, incoming("m-1"), other)) {
                receipts.add(scenario.receive(inbox, incoming));
            }
        }

        assertThat(receipts)
                .extracting(Receipt::isFirst)
                .containsExactly(true, true, false, false, true, true, false, false);
        assertThat(shipping.get("warehouse", "m-1")).isPresent();
        assertThat(shipping.get("warehouse", "m-2")).isEmpty();
    }

    @Test
    default void aDuplicateLeavesTheTransactionGood(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.receive(inbox, incoming("m-1"));

        scenario.commit(tx -> {
            scenario.writeEffect(tx, "before");
            scenario.receive(tx, inbox, incoming("m-1"));
            scenario.writeEffect(tx, "after");
            return tx;
        });

        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "before", "after");
    }

    @Test
    default void whatTheEffectThrowsReachesTheCallerAndNothingIsLeft(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        Exception own = new Exception("out of paper");

        assertThatThrownBy(() -> scenario.commit(tx -> inbox.receive(tx, incoming("m-1"), effect -> {
                    scenario.writeEffect(effect, "m-1");
                    throw own;
                })))
                .isSameAs(own);

        assertThat(scenario.effects()).isEmpty();
        assertThat(inbox.get(SOURCE, "m-1")).isEmpty();
    }

    @Test
    default void whatIsReceivedNeverReachesAPoller(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        for (int i = 0; i < 20; i++) {
            scenario.receive(inbox, incoming("m-" + i));
        }
        scenario.commit(tx -> inbox.markDead(tx, SOURCE, "m-1", "given up"));
        scenario.advance(SourceScenario.PAST_LEASE);

        assertThat(scenario.poll(inbox, scenario.writingEffects())).isZero();
        Claim claim = inbox.source().claim(SourceScenario.atMost(100));
        assertThat(claim.items()).isEmpty();
        assertThat(claim.dead()).isEmpty();
        assertThat(inbox.source().nextDue(Set.of())).isEmpty();
        assertThatThrownBy(() -> inbox.requeue(SOURCE, "m-1"))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("it was received, not enqueued")
                .hasMessageContaining("forceRequeue");
        assertThat(known(inbox, "m-0").status()).isEqualTo(Status.DONE);
        assertThat(scenario.effects()).hasSize(20);
    }

    @Test
    default void aTextThatIsNoneIsRefusedAndU0000IsNot(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();

        assertThatThrownBy(() ->
                        scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload("\uD800")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unpaired surrogate");
        assertThat(scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload("\0"))
                        .isFirst())
                .isTrue();
    }

    @Test
    default void listenersAreToldOfEveryArrival(InboxScenario scenario) throws Exception {
        List<OutboxEvent> events = new ArrayList<>();
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).listener(events::add));

        Receipt first = scenario.receive(inbox, incoming("m-1"));
        Receipt second = scenario.receive(inbox, incoming("m-1"));

        assertThat(events)
                .containsExactly(
                        new OutboxEvent.Received(CONSUMER, SOURCE, "m-1", first),
                        new OutboxEvent.Received(CONSUMER, SOURCE, "m-1", second));
    }

    @Test
    default void aConnectionWithoutATransactionIsRefused(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        try (Connection connection = scenario.fixture().dataSource().getConnection()) {
            assertThatThrownBy(() -> inbox.receive(connection, incoming("m-1")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("receive needs an open transaction, but the connection is in auto-commit");
            assertThatThrownBy(() -> inbox.enqueue(connection, item("m-1")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("enqueue needs an open transaction, but the connection is in auto-commit");
        }
        assertThat(inbox.get(SOURCE, "m-1")).isEmpty();
    }

    @Test
    default void whatIsReceivedNeedsSomethingToTellItByAndNoTopic(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        try (Connection tx = scenario.begin()) {
            assertThatThrownBy(() -> inbox.receive(tx, Incoming.from(SOURCE, "m-1")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has neither payload nor hash");
            assertThatThrownBy(() -> inbox.receive(tx, item("m-1")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has a topic");
            assertThatThrownBy(() -> inbox.receive(tx, incoming("m-1").key("k")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has a key");
            assertThatThrownBy(() -> inbox.enqueue(tx, incoming("m-1")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has no topic");
            assertThat(inbox.receive(tx, incoming("m-1")).isFirst()).isTrue();
            tx.rollback();
        }
    }
}
