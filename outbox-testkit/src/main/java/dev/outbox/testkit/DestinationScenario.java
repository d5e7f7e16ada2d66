package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The steps that the tests of {@link DestinationContract} share. Created anew for each test. */
public final class DestinationScenario {
    /** The topic of all messages. */
    public static final String TOPIC = "orders.placed";

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final int MAX_POLLS = 100;

    private final DestinationFixture fixture;
    private final InMemoryOutbox outbox = new InMemoryOutbox();

    DestinationScenario(DestinationFixture fixture) {
        this.fixture = fixture;
    }

    /** The destination and its broker. */
    public DestinationFixture fixture() {
        return fixture;
    }

    /** A work item, as a poller would pass it to the destination. */
    public static WorkItem item(String messageId, long sequence) {
        Message message =
                Message.to(TOPIC).id(messageId).key("key of " + messageId).payload("payload of " + messageId);
        return new WorkItem("item-" + messageId, sequence, 1, Instant.EPOCH, message);
    }

    /** Calls the destination. */
    public List<Outcome> deliver(WorkItem... items) throws Exception {
        return fixture.destination().deliver(List.of(items));
    }

    /** Enqueues this many messages of each of these keys, in turns. Returns their ids. */
    public List<String> enqueue(int count, String... keys) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            for (String key : keys) {
                messages.add(Message.to(TOPIC).id(key + "-" + i).key(key).payload("payload"));
            }
        }
        outbox.store().add(messages);
        return messages.stream().map(Message::id).toList();
    }

    /** Polls once. */
    public void poll() throws Exception {
        poller(outbox.source()).pollOnce();
    }

    /** Polls a few times with a poller that fails at this point. */
    public void pollUntilItBreaks(CrashPoint point) throws Exception {
        Poller poller = poller(point.in(outbox.source()));
        try {
            poller.pollOnce();
            poller.pollOnce();
        } catch (RuntimeException e) {
            // the poller is of no more use, as after a crash
        }
    }

    /** Polls until everything is finished, letting time pass where something waits. */
    public void pollUntilFinished() throws Exception {
        for (int i = 0; i < MAX_POLLS && !isFinished(); i++) {
            poll();
            outbox.clock().advance(LEASE.multipliedBy(2));
        }
        OutboxAssertions.assertThat(outbox).hasNoStuckItems().hasNoDeadItems();
    }

    private boolean isFinished() {
        return outbox.store().items().stream().allMatch(item -> item.status() == Status.DONE);
    }

    private Poller poller(Source source) throws Exception {
        return Poller.from(source)
                .ticker(outbox.clock()::nanoTime)
                .lease(LEASE)
                .retry(RetryPolicy.standard().baseDelay(Duration.ofMillis(1)).maxAttempts(1_000))
                .toBatch(fixture.destination())
                .build();
    }
}
