package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.SOURCE;
import static dev.outbox.testkit.InboxScenario.assertItem;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Which records a purge removes, and which items may be requeued. The default retention is 30 days. */
interface RetentionContract {
    private static Inbox withADeadItem(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("dead"));
        scenario.poll(inbox, (tx, item) -> {
            throw new PermanentFailureException("no");
        });
        return inbox;
    }

    @Test
    default void whatIsDoneIsForgottenAfterTheRetentionAndNothingElse(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.MANY_SOURCES);
        Inbox inbox = withADeadItem(scenario);
        Inbox other = scenario.inbox(InboxSettings.of("shipping"));
        scenario.receive(inbox, incoming("received"));
        scenario.receive(other, incoming("received"));
        scenario.enqueue(inbox, item("handled"));
        scenario.poll(inbox, scenario.writingEffects());
        scenario.enqueue(inbox, item("ready"));
        scenario.advance(Duration.ofDays(29));
        scenario.receive(inbox, incoming("young"));

        assertThat(inbox.source().purge()).as("after 29 days").isZero();
        scenario.advance(Duration.ofDays(2));
        assertThat(inbox.source().purge()).as("after 31 days").isEqualTo(2);

        assertThat(inbox.get(SOURCE, "received")).isEmpty();
        assertThat(inbox.get(SOURCE, "handled")).isEmpty();
        assertThat(inbox.get(SOURCE, "young")).isPresent();
        assertThat(inbox.get(SOURCE, "ready")).isPresent();
        assertThat(inbox.get(SOURCE, "dead")).isPresent();
        assertThat(other.get(SOURCE, "received")).isPresent();
        assertThat(scenario.receive(inbox, incoming("received")).isFirst()).isTrue();
    }

    @Test
    default void purgeByHandTakesWhatIsOldEnoughButNotWhatMayComeAgain(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        for (int i = 0; i < 5; i++) {
            scenario.receive(inbox, incoming("m-" + i));
        }
        scenario.advance(Duration.ofDays(8));
        scenario.receive(inbox, incoming("young"));

        assertThatThrownBy(() -> inbox.purge(Duration.ofDays(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("olderThan must be at least maxRedelivery, PT168H, was PT24H")
                .hasMessageContaining("would have its effect twice");
        assertThat(inbox.purge(Duration.ofDays(7))).isEqualTo(5);
        assertThat(inbox.get(SOURCE, "young")).isPresent();
    }

    @Test
    default void aDeadItemThatIsRequeuedIsHandled(InboxScenario scenario) throws Exception {
        Inbox inbox = withADeadItem(scenario);

        inbox.requeue(SOURCE, "dead");

        assertItem(inbox, "dead", Status.READY, 0);
        scenario.poll(inbox, scenario.writingEffects());
        assertThat(scenario.effects()).containsExactly("dead");
    }

    @Test
    default void aDeadItemOlderThanTheRetentionIsRequeuedOnlyByForce(InboxScenario scenario) throws Exception {
        Inbox inbox = withADeadItem(scenario);
        scenario.advance(Duration.ofDays(31));

        assertThatThrownBy(() -> inbox.requeue(SOURCE, "dead"))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("longer ago than the retention of PT720H")
                .hasMessageContaining("forceRequeue");
        assertItem(inbox, "dead", Status.DEAD, 1);

        inbox.forceRequeue(SOURCE, "dead");
        assertItem(inbox, "dead", Status.READY, 0);
    }

    @Test
    default void onlyDeadItemsAreRequeued(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.enqueue(inbox, item("ready"));

        assertThatThrownBy(() -> inbox.forceRequeue(SOURCE, "ready"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("cannot requeue message ready from shop: it is not Dead, but READY");
        assertThatThrownBy(() -> inbox.requeue(SOURCE, "unknown"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("cannot requeue message unknown from shop: there is no such message");
    }
}
