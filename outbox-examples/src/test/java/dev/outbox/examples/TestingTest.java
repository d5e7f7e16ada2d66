package dev.outbox.examples;

import static dev.outbox.testkit.OutboxAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentFailureException;
import dev.outbox.delivery.Poller;
import dev.outbox.testkit.CrashPoint;
import dev.outbox.testkit.InMemoryOutbox;
import dev.outbox.testkit.RecordingDestination;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The code of docs/how-to/test-your-code.md that needs no database. */
class TestingTest {
    @Test
    void aCustomerIsGreetedFirst() {
        InMemoryOutbox outbox = new InMemoryOutbox();
        RecordingDestination mails = RecordingDestination.create();

        new Greeter(outbox.dataSource(), outbox).greet("ann");
        outbox.poller().to(mails).build().pollOnce();

        assertThat(outbox).hasDelivered("mails.due").withKey("ann").times(2).inOrder();
        assertThat(outbox).hasNoStuckItems();
    }

    @Test
    void aMailThatFailsComesLaterAndTheNextOneWaitsForIt() {
        InMemoryOutbox outbox = new InMemoryOutbox();
        RecordingDestination mails = RecordingDestination.flaky(1);
        Poller poller = outbox.poller().to(mails).build();

        new Greeter(outbox.dataSource(), outbox).greet("ann");
        poller.pollOnce();
        assertThat(outbox).hasNotDelivered("mails.due").hasNoStuckItems();

        for (int i = 0; i < 3; i++) {
            outbox.clock().advance(Duration.ofMinutes(10));
            poller.pollOnce();
        }
        assertThat(outbox).hasDelivered("mails.due").withKey("ann").times(2).inOrder();
    }

    @Test
    void aMailThatCanNeverBeSentIsGivenUp() {
        InMemoryOutbox outbox = new InMemoryOutbox();
        RecordingDestination mails =
                RecordingDestination.failing(() -> new PermanentFailureException("no such address"));

        new Greeter(outbox.dataSource(), outbox).greet("nobody");
        outbox.poller().to(mails).build().pollOnce();

        assertThat(mails.attempts()).hasSize(2);
        assertThat(outbox).hasNotDelivered("mails.due");
    }

    @Test
    void aMailIsSentAgainIfTheProcessDiesBeforeItIsSettled() {
        InMemoryOutbox outbox = new InMemoryOutbox();
        RecordingDestination mails = RecordingDestination.create();
        new Greeter(outbox.dataSource(), outbox).greet("ann");

        Poller dying = Poller.from(CrashPoint.BEFORE_SETTLE.in(outbox.source()))
                .ticker(outbox.clock()::nanoTime)
                .to(mails)
                .build();
        assertThatThrownBy(dying::pollOnce).hasMessageContaining("dead");
        outbox.clock().advance(Duration.ofMinutes(1));
        outbox.poller().to(mails).build().pollOnce();

        assertThat(mails.deliveries()).hasSizeGreaterThan(2);
        assertThat(outbox).hasDelivered("mails.due").withKey("ann").times(2).inOrder();
    }
}
