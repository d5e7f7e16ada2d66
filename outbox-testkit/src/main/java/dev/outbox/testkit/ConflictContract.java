package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.CONSUMER;
import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.TOPIC;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static dev.outbox.testkit.InboxScenario.known;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.ConflictException;
import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.OnConflict;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.event.OutboxEvent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A message with the id of another one and other content. */
interface ConflictContract {
    private static Incoming forged(String messageId) {
        return Incoming.from(SOURCE, messageId).payload("forged");
    }

    @Test
    default void everyAlteredPayloadIsAConflict(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).onConflict(OnConflict.ANSWER));
        byte[] payload = "{\"order\":\"o-1\",\"cents\":4200}".getBytes(StandardCharsets.UTF_8);
        scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload(payload));
        List<byte[]> altered = new ArrayList<>();
        for (int i = 0; i < payload.length * 8; i++) {
            byte[] flipped = payload.clone();
            flipped[i / 8] ^= (byte) (1 << i % 8);
            altered.add(flipped);
        }
        for (int length = 0; length < payload.length; length++) {
            altered.add(Arrays.copyOf(payload, length));
        }
        altered.add(Arrays.copyOf(payload, payload.length + 1));

        for (byte[] other : altered) {
            assertThat(scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload(other))
                            .kind())
                    .as("a payload of %s", Arrays.toString(other))
                    .isEqualTo(Kind.CONFLICT);
        }

        assertThat(known(inbox, "m-1").receipts())
                .as("conflicts are no receipts")
                .isOne();
        assertThat(scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload(payload))
                        .kind())
                .isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aConflictIsAnExceptionThatNamesTheMessageAndNotItsPayload(InboxScenario scenario) throws Exception {
        List<OutboxEvent> events = new ArrayList<>();
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).listener(events::add));
        Receipt first = scenario.receive(inbox, incoming("m-1"));
        events.clear();

        ConflictException conflict = scenario.commit(tx -> {
            ConflictException thrown =
                    catchThrowableOfType(ConflictException.class, () -> scenario.receive(tx, inbox, forged("m-1")));
            scenario.writeEffect(tx, "the transaction is still good");
            return thrown;
        });

        assertThat(conflict)
                .hasMessageContainingAll(CONSUMER, SOURCE, "m-1")
                .message()
                .doesNotContain("forged");
        assertThat(conflict.isRetryable()).isFalse();
        assertThat(conflict.source()).isEqualTo(SOURCE);
        assertThat(conflict.messageId()).isEqualTo("m-1");
        assertThat(events)
                .containsExactly(new OutboxEvent.Conflict(
                        CONSUMER, SOURCE, "m-1", new Receipt(Kind.CONFLICT, first.firstSeen(), first.lastSeen(), 1)));
        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "the transaction is still good");
    }

    @Test
    default void aConflictMayCountAsADuplicateButIsStillTold(InboxScenario scenario) throws Exception {
        List<OutboxEvent> events = new ArrayList<>();
        Inbox inbox = scenario.inbox(
                InboxSettings.of(CONSUMER).onConflict(OnConflict.DUPLICATE).listener(events::add));
        scenario.receive(inbox, incoming("m-1"));

        Receipt receipt = scenario.receive(inbox, forged("m-1"));

        assertThat(receipt.kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(receipt.receipts()).isOne();
        assertThat(events).last().isInstanceOf(OutboxEvent.Conflict.class);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aConflictChangesNothingOfWhatIsStored(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).onConflict(OnConflict.ANSWER));
        scenario.enqueue(inbox, item("m-1"));
        InboxRecord before = known(inbox, "m-1");

        List<Receipt> receipts = scenario.enqueue(inbox, forged("m-1").topic("other.topic"), item("m-2"), item("m-1"));

        assertThat(receipts).extracting(Receipt::kind).containsExactly(Kind.CONFLICT, Kind.FIRST, Kind.DUPLICATE);
        assertThat(known(inbox, "m-1"))
                .usingRecursiveComparison()
                .ignoringFields("receipts", "lastSeen")
                .isEqualTo(before);
        List<String> handled = new ArrayList<>();
        scenario.pollAll(inbox, (tx, item) -> handled.add(item.topic() + " " + item.payload()));
        assertThat(handled).containsExactlyInAnyOrder(TOPIC + " payload of m-1", TOPIC + " payload of m-2");
    }

    @Test
    default void aConflictAmongSeveralIsThrownAfterTheOthersAreStoredAndTold(InboxScenario scenario) throws Exception {
        List<OutboxEvent> events = new ArrayList<>();
        Inbox inbox = scenario.inbox(InboxSettings.of(CONSUMER).listener(events::add));
        scenario.enqueue(inbox, item("m-1"), item("m-3"));
        events.clear();

        ConflictException conflict = scenario.commit(tx -> catchThrowableOfType(
                ConflictException.class,
                () -> inbox.enqueueAll(
                        tx,
                        List.of(
                                item("m-0"),
                                forged("m-1").topic(TOPIC),
                                item("m-2"),
                                forged("m-3").topic(TOPIC)))));

        assertThat(conflict.messageId()).as("the first conflict").isEqualTo("m-1");
        assertThat(events)
                .extracting(event -> event.getClass().getSimpleName())
                .containsExactly("Received", "Conflict", "Received", "Conflict", "Enqueued");
        List<String> handled = new ArrayList<>();
        scenario.pollAll(inbox, (tx, item) -> handled.add(item.messageId()));
        assertThat(handled).containsExactlyInAnyOrder("m-0", "m-1", "m-2", "m-3");
    }

    @Test
    default void aGivenHashDecidesInsteadOfThePayload(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        byte[] hash = new byte[Incoming.HASH_LENGTH];
        byte[] other = hash.clone();
        other[Incoming.HASH_LENGTH - 1] = 1;
        scenario.receive(inbox, incoming("m-1").hash(hash));

        assertThat(scenario.receive(inbox, forged("m-1").hash(hash)).kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.receive(inbox, Incoming.from(SOURCE, "m-1").hash(hash))
                        .kind())
                .isEqualTo(Kind.DUPLICATE);
        assertThatThrownBy(() -> scenario.receive(inbox, incoming("m-1").hash(other)))
                .isInstanceOf(ConflictException.class);
        assertThatThrownBy(() -> scenario.receive(inbox, incoming("m-1"))).isInstanceOf(ConflictException.class);
    }

    @Test
    default void theSamePayloadAsTextAndAsBytesIsNoConflict(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.receive(inbox, Incoming.from(SOURCE, "m-1").payload("zwölf"));

        assertThat(scenario.receive(
                                inbox, Incoming.from(SOURCE, "m-1").payload("zwölf".getBytes(StandardCharsets.UTF_8)))
                        .kind())
                .isEqualTo(Kind.DUPLICATE);
    }
}
