package dev.outbox.micrometer;

import dev.outbox.Message;
import dev.outbox.Receipt;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Require;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts and times what happens to the work items of one table. Add it as a listener to the table's outbox or inbox:
 * then it receives the events of each enqueue and of all its pollers in this JVM.
 *
 * <pre>{@code
 * OutboxMetrics metrics = OutboxMetrics.of(registry, "outbox");
 * Outbox outbox = PostgresOutbox.builder(dataSource).listener(metrics).build();
 * }</pre>
 *
 * <p>Every meter has the tag {@code table}; those about items have {@code topic} too. {@code docs/reference/metrics.md}
 * lists names and meanings. On an event this listener only updates meters: it never waits, and queries no database.
 * {@link TableGauges} shows the backlog and its age, which only the table knows. Thread-safe.
 */
public final class OutboxMetrics implements OutboxListener {
    /**
     * The most topics with a tag of their own; all further topics share the tag {@value #OTHER_TOPICS}. Each topic costs
     * the monitoring system some twenty series.
     */
    public static final int MAX_TOPICS = 100;

    /** The tag of all topics beyond {@link #MAX_TOPICS}. */
    public static final String OTHER_TOPICS = "other";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Clock clock;
    private final Map<String, TopicMeters> topics = new ConcurrentHashMap<>();
    private final Map<Receipt.Kind, Counter> received = new EnumMap<>(Receipt.Kind.class);
    private final DistributionSummary batchSize;
    private final Timer pollTime;
    private final Counter pollFailed;
    private final Counter destinationDown;
    private final Counter purged;

    private OutboxMetrics(MeterRegistry registry, String table, Clock clock) {
        this.registry = Require.present("registry", registry);
        this.tags = Tags.of("table", Require.text("table", table, Message.MAX_NAME));
        this.clock = clock;
        for (Receipt.Kind kind : Receipt.Kind.values()) {
            received.put(
                    kind,
                    Counter.builder("outbox.received")
                            .description("Messages that were given to an inbox, by whether they were new")
                            .tags(tags.and("kind", kind.name().toLowerCase(Locale.ROOT)))
                            .register(registry));
        }
        this.batchSize = DistributionSummary.builder("outbox.batch.size")
                .description("Items per claim that found any")
                .baseUnit("items")
                .tags(tags)
                .register(registry);
        this.pollTime = Timer.builder("outbox.poll.time")
                .description("Time of a claim, whether it found anything or not")
                .tags(tags)
                .register(registry);
        this.pollFailed = counter("outbox.poll.failed", "Claims, settles, renewals and purges that failed");
        this.destinationDown = counter("outbox.destination.down", "Times that a destination was found to be down");
        this.purged = counter("outbox.purged", "Rows removed because their retention was over");
    }

    /**
     * @param table the value of the tag {@code table}, which distinguishes several outboxes and inboxes
     */
    public static OutboxMetrics of(MeterRegistry registry, String table) {
        return of(registry, table, Clock.systemUTC());
    }

    /** With the clock that end-to-end latency is measured by, for tests. */
    static OutboxMetrics of(MeterRegistry registry, String table, Clock clock) {
        return new OutboxMetrics(registry, table, clock);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).tags(tags).register(registry);
    }

    @Override
    public void on(OutboxEvent event) {
        if (event instanceof OutboxEvent.Enqueued enqueued) {
            enqueued.messages().forEach(message -> of(message.topic()).enqueued.increment());
        } else if (event instanceof OutboxEvent.Received arrival) {
            count(arrival.receipt());
        } else if (event instanceof OutboxEvent.Conflict conflict) {
            count(conflict.receipt());
        } else if (event instanceof OutboxEvent.Polled polled) {
            pollTime.record(polled.took());
        } else if (event instanceof OutboxEvent.Claimed claimed) {
            batchSize.record(claimed.items().size());
            claimed.items().forEach(item -> of(item).claimed.increment());
        } else if (event instanceof OutboxEvent.Done done) {
            done(done.item(), done.delivery());
        } else if (event instanceof OutboxEvent.Retried retried) {
            of(retried.item()).retried.increment();
        } else if (event instanceof OutboxEvent.Dead dead) {
            of(dead.item()).dead.increment();
        } else if (event instanceof OutboxEvent.Ignored ignored) {
            of(ignored.item()).ignored.increment();
        } else if (event instanceof OutboxEvent.Released released) {
            of(released.item()).released.increment();
        } else if (event instanceof OutboxEvent.Fenced fenced) {
            of(fenced.item()).fenced.increment();
        } else if (event instanceof OutboxEvent.LeaseLost lost) {
            lost.items().forEach(item -> of(item).leaseLost.increment());
        } else if (event instanceof OutboxEvent.DestinationDown) {
            destinationDown.increment();
        } else if (event instanceof OutboxEvent.Purged removed) {
            purged.increment(removed.count());
        } else if (event instanceof OutboxEvent.PollFailed) {
            pollFailed.increment();
        }
    }

    private void count(Receipt receipt) {
        Require.present("kind", received.get(receipt.kind())).increment();
    }

    private void done(WorkItem item, Duration delivery) {
        TopicMeters meters = of(item);
        meters.done.increment();
        meters.deliveryTime.record(delivery);
        Duration latency = Duration.between(item.createdOn(), clock.instant());
        meters.latency.record(latency.isNegative() ? Duration.ZERO : latency); // the clocks of two machines
    }

    private TopicMeters of(WorkItem item) {
        return of(item.topic());
    }

    private TopicMeters of(String topic) {
        TopicMeters known = topics.get(topic);
        if (known != null) {
            return known;
        }
        String named = topics.size() < MAX_TOPICS ? topic : OTHER_TOPICS;
        return topics.computeIfAbsent(named, name -> new TopicMeters(registry, tags.and("topic", name)));
    }
}
