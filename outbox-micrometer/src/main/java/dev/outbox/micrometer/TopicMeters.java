package dev.outbox.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** The meters of one topic, all of them there from its first item on: a rate needs a zero to begin with. */
final class TopicMeters {
    /** From a fast broker to an outage of an hour; so few, because each is a series for every topic. */
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(5),
        Duration.ofMillis(10),
        Duration.ofMillis(25),
        Duration.ofMillis(50),
        Duration.ofMillis(100),
        Duration.ofMillis(250),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofMillis(2_500),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofMinutes(1),
        Duration.ofMinutes(5),
        Duration.ofHours(1)
    };

    private final MeterRegistry registry;
    private final Tags tags;

    final Counter enqueued;
    final Counter claimed;
    final Counter done;
    final Counter retried;
    final Counter dead;
    final Counter ignored;
    final Counter released;
    final Counter fenced;
    final Counter leaseLost;
    final Timer deliveryTime;
    final Timer latency;

    TopicMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        this.enqueued = counter("outbox.enqueued", "Items stored in transactions that may still roll back");
        this.claimed = counter("outbox.claimed", "Items leased to a poller, each attempt counted");
        this.done = counter("outbox.done", "Items delivered and settled");
        this.retried = counter("outbox.retried", "Attempts that failed and will be repeated");
        this.dead = counter("outbox.dead", "Items given up");
        this.ignored = counter("outbox.ignored", "Items settled unhandled, because their topic had no route");
        this.released = counter("outbox.released", "Items given back without a verdict");
        this.fenced = counter("outbox.fenced", "Settles that came too late and changed nothing");
        this.leaseLost = counter("outbox.lease.lost", "Items dropped or interrupted because their lease was over");
        this.deliveryTime = timer("outbox.delivery.time", "Time that the destination took to accept an item");
        this.latency = timer("outbox.latency", "Time from an item being stored to its being delivered");
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).tags(tags).register(registry);
    }

    private Timer timer(String name, String description) {
        return Timer.builder(name)
                .description(description)
                .tags(tags)
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }
}
