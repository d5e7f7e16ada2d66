package dev.outbox.quickstart;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Stands for the client of a message broker, and remembers everything that arrived. Some calls fail, as on a real network:
 * either nothing arrives, or the message arrives but its acknowledgement is lost, so that it is sent again. Thread-safe.
 */
final class Broker {
    private static final double REFUSED = 0.02;
    private static final double ACKNOWLEDGEMENT_LOST = 0.01;

    /** One message that arrived, for the first time or again. */
    record Arrival(String topic, @Nullable String key, String messageId) {}

    private final Wire invoicesDue;
    private final Collection<Arrival> arrivals = new ConcurrentLinkedQueue<>();
    private final Set<String> messageIds = ConcurrentHashMap.newKeySet();
    private final AtomicInteger failedCalls = new AtomicInteger();

    /** @param invoicesDue receives the messages of the topic {@code invoices.due} */
    Broker(Wire invoicesDue) {
        this.invoicesDue = invoicesDue;
    }

    void publish(String topic, @Nullable String key, String messageId, String payload) throws IOException {
        double luck = ThreadLocalRandom.current().nextDouble();
        if (luck < REFUSED) {
            failedCalls.incrementAndGet();
            throw new IOException("the broker refused " + payload.length() + " characters");
        }
        arrivals.add(new Arrival(topic, key, messageId));
        messageIds.add(messageId);
        if (topic.equals(Shop.INVOICES_DUE)) {
            invoicesDue.carry(new Wire.Parcel(messageId, payload));
        }
        if (luck < REFUSED + ACKNOWLEDGEMENT_LOST) {
            failedCalls.incrementAndGet();
            throw new IOException("the broker's acknowledgement was lost");
        }
    }

    /** Everything that arrived, including repetitions; messages of one key in the order in which they arrived. */
    List<Arrival> arrivals() {
        return List.copyOf(arrivals);
    }

    /** How many different messages arrived. */
    int delivered() {
        return messageIds.size();
    }

    /** How many calls failed. */
    int failedCalls() {
        return failedCalls.get();
    }
}
