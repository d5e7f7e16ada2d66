package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.TOPIC;
import static dev.outbox.testkit.InboxScenario.assertItem;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static dev.outbox.testkit.InboxScenario.known;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.Status;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The records of single messages, for users who run their own loop. */
interface RecordContract {
    @Test
    default void aReceivedMessageIsKnownAsDone(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.RECEIPT_COUNTS);
        Inbox inbox = scenario.inbox();
        scenario.receive(inbox, incoming("m-1"));
        Receipt last = scenario.receive(inbox, incoming("m-1"));

        InboxRecord record = known(inbox, "m-1");

        assertThat(record)
                .isEqualTo(new InboxRecord(
                        SOURCE,
                        "m-1",
                        null,
                        Status.DONE,
                        0,
                        2,
                        last.firstSeen(),
                        last.lastSeen(),
                        record.processedOn(),
                        null));
        assertThat(record.processedOn()).isEqualTo(last.firstSeen());
    }

    @Test
    default void anEnqueuedMessageIsKnownAsReadyWithItsTopic(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        Receipt receipt = scenario.enqueue(inbox, item("m-1")).get(0);

        assertThat(known(inbox, "m-1"))
                .isEqualTo(new InboxRecord(
                        SOURCE, "m-1", TOPIC, Status.READY, 0, 1, receipt.firstSeen(), receipt.lastSeen(), null, null));
    }

    @Test
    default void aReceivedMessageThatIsGivenUpStaysKnown(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.commit(tx -> {
            inbox.receive(tx, incoming("m-1"));
            return inbox.markDead(tx, SOURCE, "m-1", "no such customer");
        });

        InboxRecord record = known(inbox, "m-1");
        assertThat(record.status()).isEqualTo(Status.DEAD);
        assertThat(record.lastError()).isEqualTo("no such customer");
        assertThat(scenario.receive(inbox, incoming("m-1")).kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.<Boolean>commit(tx -> inbox.markDead(tx, SOURCE, "m-1", "again")))
                .isFalse();
        assertThat(scenario.<Boolean>commit(tx -> inbox.markDead(tx, SOURCE, "m-2", "unknown")))
                .isFalse();
    }

    @Test
    default void aReceivedMessageThatWasGivenUpIsForgottenByForceAndThenNew(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        for (String id : List.of("m-1", "m-2")) {
            scenario.commit(tx -> inbox.receive(tx, incoming(id)).isFirst() && inbox.markDead(tx, SOURCE, id, "no"));
        }
        scenario.commit(tx -> inbox.receive(tx, incoming("done")));

        inbox.forceRequeue(SOURCE, "m-1");

        assertThat(scenario.receive(inbox, incoming("m-1")).isFirst()).isTrue();
        assertThat(scenario.effects()).containsExactly("m-1");
        assertThat(known(inbox, "m-2").status()).isEqualTo(Status.DEAD);
        for (String id : List.of("m-1", "done")) {
            assertThatThrownBy(() -> inbox.forceRequeue(SOURCE, id))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("it is not Dead, but DONE");
        }
    }

    @Test
    default void anIdThatNoRecordCanHaveIsRefused(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> inbox.get(SOURCE, "\0"),
                () -> inbox.get("\0", "m-1"),
                () -> inbox.requeue(SOURCE, "\0"),
                () -> scenario.commit(tx -> inbox.markDead(tx, SOURCE, "\0", "no")))) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("contains U+0000");
        }
    }

    @Test
    default void markDeadIsUndoneByARollback(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));

        try (var tx = scenario.begin()) {
            assertThat(inbox.markDead(tx, SOURCE, "m-1", "no")).isTrue();
            tx.rollback();
        }

        assertItem(inbox, "m-1", Status.READY, 0);
    }

    @Test
    default void anItemThatIsGivenUpWhileItIsHandledHasNoEffect(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));

        scenario.poll(inbox, (tx, item) -> {
            scenario.writeEffect(tx, item.messageId());
            assertThat(scenario.<Boolean>commit(other -> inbox.markDead(other, SOURCE, "m-1", "stop it")))
                    .isTrue();
        });

        assertItem(inbox, "m-1", Status.DEAD, 1);
        assertThat(scenario.effects()).isEmpty();
    }

    @Test
    default void anItemThatWasHandledCannotBeGivenUp(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));
        scenario.poll(inbox, scenario.writingEffects());

        assertThat(scenario.<Boolean>commit(tx -> inbox.markDead(tx, SOURCE, "m-1", "too late")))
                .isFalse();

        assertItem(inbox, "m-1", Status.DONE, 1);
    }
}
