package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Pollers that look, and try again, often, and what they told and delivered. */
final class QuickPollers {
    final Queue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
    final Set<String> delivered = ConcurrentHashMap.newKeySet();

    PollerBuilder of(Outbox outbox) {
        return outbox.poller()
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .lease(Duration.ofSeconds(20))
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(5), 3))
                .listener(events::add);
    }

    void take(WorkItem item) {
        delivered.add(item.messageId());
    }

    static Message message(String id) {
        return Message.to("lifecycle").id(id).payload("x");
    }
}
