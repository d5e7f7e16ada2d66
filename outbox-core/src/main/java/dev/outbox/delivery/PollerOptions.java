package dev.outbox.delivery;

import dev.outbox.OnDead;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.spi.WakeUp;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The checked options of one poller. */
record PollerOptions(
        String name,
        Source source,
        int minBatch,
        int maxBatch,
        int batchBytes,
        int concurrency,
        @Nullable Executor executor,
        Duration lease,
        Duration maxDeliveryTime,
        Duration maxAge,
        RetryPolicy retry,
        Predicate<Throwable> outage,
        OnDead onDead,
        Duration minIdle,
        Duration maxIdle,
        Duration drainTimeout,
        Duration purgeEvery,
        Set<String> topics,
        List<WakeUp> wakeUps,
        Emitter emitter,
        LongSupplier ticker) {

    ClaimRequest claimRequest() {
        return new ClaimRequest(maxBatch, lease, retry.maxAttempts(), topics, name)
                .maxBytes(batchBytes)
                .onDead(onDead);
    }

    long now() {
        return ticker.getAsLong();
    }

    void emit(Supplier<OutboxEvent> event) {
        emitter.emit(event);
    }

    /** Everything that shapes its behaviour, for the log. */
    String describe() {
        return "table=" + source.name() + ", batchSize=" + minBatch + ".." + maxBatch + ", batchBytes=" + batchBytes
                + ", concurrency=" + concurrency + ", executor="
                + (executor == null ? "own" : "given") + ", lease=" + lease + ", maxDeliveryTime=" + maxDeliveryTime
                + ", maxAge=" + maxAge + ", retry=" + retry + ", onDead=" + onDead + ", idle="
                + minIdle + ".."
                + maxIdle + ", drainTimeout="
                + drainTimeout + ", purgeEvery=" + purgeEvery + ", topics=" + (topics.isEmpty() ? "all" : topics);
    }
}
