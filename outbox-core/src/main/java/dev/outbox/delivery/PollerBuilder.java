package dev.outbox.delivery;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkQueue;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Require;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.WakeUp;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Options of a {@link Poller}, each with its default. One of {@link #to}, {@link #toBatch} and {@link
 * #inTransaction} is required. Not thread-safe.
 */
public final class PollerBuilder {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration YEAR = Duration.ofDays(366);

    private final Source source;
    private final List<WakeUp> wakeUps = new ArrayList<>();
    private final List<OutboxListener> listeners = new ArrayList<>();
    private final Set<String> topics = new LinkedHashSet<>();
    private @Nullable Form form;
    private @Nullable Object destination;
    private Predicate<Throwable> outage = Outages.connectFailures();
    private @Nullable String name;
    private @Nullable Executor executor;
    private int minBatch = 10;
    private int maxBatch = 500;
    private int batchBytes = ClaimRequest.STANDARD_BYTES;
    private int concurrency = 4;
    private Duration lease = Duration.ofSeconds(30);
    private Duration maxDeliveryTime = Duration.ofMinutes(5);
    private Duration maxAge = Duration.ofDays(7);
    private RetryPolicy retry = RetryPolicy.standard();
    private OnDead onDead = OnDead.SKIP;
    private Duration minIdle = Duration.ofMillis(50);
    private Duration maxIdle = Duration.ofSeconds(1);
    private Duration drainTimeout = Duration.ofSeconds(30);
    private Duration purgeEvery = Duration.ofMinutes(1);
    private LongSupplier ticker = System::nanoTime;

    PollerBuilder(Source source) {
        this.source = Require.present("source", source);
    }

    /** How runs are delivered, made once the poller's parts exist. */
    @FunctionalInterface
    interface Form {
        Delivery delivery(Delivery.Parts parts);
    }

    /** Delivers item by item. */
    public PollerBuilder to(Destination destination) {
        Require.present("destination", destination);
        return form(destination, parts -> new SingleDelivery(destination, parts));
    }

    /** Delivers many items per call. */
    public PollerBuilder toBatch(BatchDestination destination) {
        Require.present("destination", destination);
        return form(destination, parts -> new BatchDelivery(destination, parts));
    }

    /**
     * Delivers item by item inside a transaction of the source's database that also settles the item.
     *
     * @throws IllegalArgumentException if the source is not a {@link TransactionalSource}
     */
    public PollerBuilder inTransaction(TransactionalDestination destination) {
        Require.present("destination", destination);
        if (!(source instanceof TransactionalSource transactional)) {
            throw new IllegalArgumentException("inTransaction(...) needs a TransactionalSource, but "
                    + source.getClass().getName() + " is none; use to(...)");
        }
        return form(
                destination,
                parts -> new TransactionalDelivery(
                        destination instanceof TransactionalRoutes routes
                                ? routes.toldTo(parts.context().errors())
                                : destination,
                        transactional,
                        parts));
    }

    private PollerBuilder form(Object destination, Form form) {
        if (this.form != null) {
            throw new IllegalStateException(
                    "the poller has a destination already; to(...), toBatch(...) and inTransaction(...) exclude each other");
        }
        this.destination = destination;
        this.form = form;
        return this;
    }

    /** Kept with each item it claims, for people to read. Default: process id, host and a number. */
    public PollerBuilder name(String name) {
        this.name = Require.text("name", name, 255);
        return this;
    }

    /**
     * The most items per claim, 1 to 5,000: within these bounds it follows what the destination takes in about half
     * a second, but never falls below what the workers take at once. Up to two batches are held at a time. Default:
     * 10 to 500.
     */
    public PollerBuilder batchSize(int min, int max) {
        this.minBatch = Require.between("batchSize min", min, 1, 5_000);
        this.maxBatch = Require.between("batchSize max", max, min, 5_000);
        return this;
    }

    /** The same number always. */
    public PollerBuilder batchSize(int batchSize) {
        Require.between("batchSize", batchSize, 1, 5_000);
        return batchSize(batchSize, batchSize);
    }

    /**
     * A claim ends with the item whose payload brings it to this many bytes, 64 KiB to 1 GiB, so that large payloads do
     * not fill the memory. Up to two batches are held at a time. Default: 16 MiB.
     */
    public PollerBuilder batchBytes(int batchBytes) {
        this.batchBytes = Require.between("batchBytes", batchBytes, 64 << 10, 1 << 30);
        return this;
    }

    /**
     * The most deliveries at a time, 1 to 1,000. Where there are several destinations, by topic, a single one gets half of
     * them at most. Default: 4.
     */
    public PollerBuilder concurrency(int concurrency) {
        this.concurrency = Require.between("concurrency", concurrency, 1, 1_000);
        return this;
    }

    /**
     * Where deliveries run, for instance virtual threads; never shut down here. What it refuses, or takes and has
     * not begun {@link #maxDeliveryTime} after the first lease, goes back uncounted. Default: own threads.
     */
    public PollerBuilder executor(Executor executor) {
        this.executor = Require.present("executor", executor);
        return this;
    }

    /**
     * How long a claim is good for without a renewal, 10 ms to 1 day: the time after which the items of a
     * crashed poller go to another. Default: 30 s, renewed every 10 s.
     */
    public PollerBuilder lease(Duration lease) {
        this.lease = Require.between("lease", lease, SHORTEST, DAY);
        return this;
    }

    /**
     * After this long a delivery is interrupted and counts as failed, 10 ms to 1 day; a batch of several items is called
     * again in halves. Default: 5 min.
     */
    public PollerBuilder maxDeliveryTime(Duration maxDeliveryTime) {
        this.maxDeliveryTime = Require.between("maxDeliveryTime", maxDeliveryTime, SHORTEST, DAY);
        return this;
    }

    /**
     * An item older than this becomes Dead instead of being put off once more without counting an attempt: by {@link
     * RetryAfter}, because its destination cannot be reached or accepts nothing, or because its {@link
     * UnknownTypeException type} is unknown. The age counts from when the item
     * was first due; a requeue starts it anew. 10 ms to 366 days. Default: 7 days.
     */
    public PollerBuilder maxAge(Duration maxAge) {
        this.maxAge = Require.between("maxAge", maxAge, SHORTEST, YEAR);
        return this;
    }

    /** Default: {@link RetryPolicy#standard()}. */
    public PollerBuilder retry(RetryPolicy retry) {
        this.retry = Require.present("retry", retry);
        return this;
    }

    /**
     * Which exceptions show that the destination cannot be reached, whatever the message. They count as no attempt. A
     * destination may also say so itself, with {@link DestinationUnavailableException} or {@link
     * Outcome#unavailable}. Timeouts and lost connections need not be named: they are taken for an outage while the
     * destination accepts nothing, and otherwise count. Default: {@link Outages#connectFailures()}; yours replaces it,
     * so combine them with {@code Outages.connectFailures().or(...)}.
     */
    public PollerBuilder outage(Predicate<Throwable> outage) {
        this.outage = Require.present("outage", outage);
        return this;
    }

    /** What a message that becomes Dead means for the later ones of its key. Default: {@link OnDead#SKIP}. */
    public PollerBuilder onDead(OnDead onDead) {
        this.onDead = Require.present("onDead", onDead);
        return this;
    }

    /**
     * The pause after a poll that found nothing: it grows from the first to the second. The second is the
     * longest time a message can go unnoticed, unless its transaction commits long after it stored the message; such
     * messages are found by a sweep, mostly within a second. Default: 50 ms to 1 s; each 10 ms to 1 day.
     */
    public PollerBuilder idle(Duration min, Duration max) {
        this.minIdle = Require.between("idle min", min, SHORTEST, DAY);
        this.maxIdle = Require.between("idle max", max, min, DAY);
        return this;
    }

    /** How long {@link Poller#close()} waits for deliveries under way, zero to 1 day. Default: 30 s. */
    public PollerBuilder drainTimeout(Duration drainTimeout) {
        this.drainTimeout = Require.between("drainTimeout", drainTimeout, Duration.ZERO, DAY);
        return this;
    }

    /** How often it looks for items past their retention, 10 ms to 1 day. Default: 1 min. */
    public PollerBuilder purgeEvery(Duration purgeEvery) {
        this.purgeEvery = Require.between("purgeEvery", purgeEvery, SHORTEST, DAY);
        return this;
    }

    /**
     * Only these topics, so that several pollers can share one table. Default: the topics with a route, if the destination is
     * {@link Routes} without {@link Routes#otherwise otherwise} or {@link TransactionalRoutes} that {@link
     * UnroutedTopic#LEAVE leave} others; with any other destination all. An item of another topic holds back its key for
     * this poller too.
     */
    public PollerBuilder topics(String... topics) {
        for (String topic : topics) {
            this.topics.add(Require.text("topic", topic, Message.MAX_NAME));
        }
        return this;
    }

    /** Adds something that wakes this poller. Default: none here; {@link WorkQueue#poller()} gives the table's own. */
    public PollerBuilder wakeUp(WakeUp wakeUp) {
        wakeUps.add(Require.present("wakeUp", wakeUp));
        return this;
    }

    /** Adds a listener. Default: none. */
    public PollerBuilder listener(OutboxListener listener) {
        listeners.add(Require.present("listener", listener));
        return this;
    }

    /** A monotonic clock in nanoseconds, for tests. Default: {@link System#nanoTime}. */
    public PollerBuilder ticker(LongSupplier ticker) {
        this.ticker = Require.present("ticker", ticker);
        return this;
    }

    /** @throws IllegalStateException if there is no destination, or one by topic without a route */
    public Poller build() {
        if (form == null || destination == null) {
            throw new IllegalStateException(
                    "the poller has no destination; call to(...), toBatch(...) or inTransaction(...)");
        }
        return new Poller(options(), form, destination);
    }

    /** {@link #build()} and {@link Poller#start()}. */
    public Poller start() {
        return build().start();
    }

    /** The topics to claim; none means all. */
    private Set<String> claimed() {
        Routing routing = destination == null ? null : Routing.of(destination);
        if (!topics.isEmpty() || routing == null || routing.takesAllTopics()) {
            return Set.copyOf(topics);
        }
        if (routing.destinations().isEmpty()) {
            throw new IllegalStateException(
                    "the poller's destination has no route; add route(...) or otherwise(...) to byTopic()");
        }
        return Set.copyOf(routing.destinations().keySet());
    }

    private PollerOptions options() {
        return new PollerOptions(
                name == null ? ManagementFactory.getRuntimeMXBean().getName() + "/" + COUNT.incrementAndGet() : name,
                source,
                minBatch,
                maxBatch,
                batchBytes,
                concurrency,
                executor,
                lease,
                maxDeliveryTime,
                maxAge,
                retry,
                outage,
                onDead,
                minIdle,
                maxIdle,
                drainTimeout,
                purgeEvery,
                claimed(),
                List.copyOf(wakeUps),
                new Emitter(listeners),
                ticker);
    }
}
