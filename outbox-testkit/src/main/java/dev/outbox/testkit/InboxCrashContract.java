package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.CONSUMER;
import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.assertItem;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Inbox;
import dev.outbox.Receipt.Kind;
import dev.outbox.Status;
import org.junit.jupiter.api.Test;

/** Consumers that crash, in JVMs of their own. */
interface InboxCrashContract {
    private static void crash(InboxScenario scenario, InboxCrash at) throws Exception {
        assertThat(scenario.fixture().crash(at, CONSUMER, "m-1"))
                .as("exit code of the JVM that crashes %s", at)
                .isEqualTo(InboxCrash.EXIT_CODE);
    }

    @Test
    default void aCrashBetweenEffectAndCommitLeavesNothingSoThatTheEffectHappensOnce(InboxScenario scenario)
            throws Exception {
        Inbox inbox = scenario.inbox();

        crash(scenario, InboxCrash.BEFORE_COMMIT);

        assertThat(scenario.effects()).isEmpty();
        assertThat(scenario.receive(inbox, incoming("m-1")).kind()).isEqualTo(Kind.FIRST);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aCrashAfterTheCommitAndBeforeTheAcknowledgementMakesADuplicate(InboxScenario scenario)
            throws Exception {
        Inbox inbox = scenario.inbox();

        crash(scenario, InboxCrash.AFTER_COMMIT);

        assertThat(scenario.receive(inbox, incoming("m-1")).kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aCrashInAHandlerLeavesNothingAndAnotherPollerHandlesTheItem(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("m-1"));

        crash(scenario, InboxCrash.IN_HANDLER);

        assertThat(scenario.effects()).isEmpty();
        assertItem(inbox, "m-1", Status.PROCESSING, 1);
        assertThat(scenario.poll(inbox, scenario.writingEffects()))
                .as("items claimed while the crashed poller's lease lasts")
                .isZero();
        scenario.advance(SourceScenario.PAST_LEASE);
        scenario.poll(inbox, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactly("m-1");
        assertItem(inbox, "m-1", Status.DONE, 2);
        assertThat(inbox.get(SOURCE, "m-1").orElseThrow().receipts()).isOne();
    }
}
