package dev.outbox.delivery;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.UnknownTypeException;
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

    /** How runs are delivered. It is made when the parts of the poller exist. */
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

    /**
     * The poller's name, stored with each item that it claims, for operators. Default: process id, host and a number.
     */
    public PollerBuilder name(String name) {
        this.name = Require.text("name", name, 255);
        return this;
    }

    /**
     * The bounds of the number of items per claim, 1 to 5,000. Within them the size follows what the destination takes
     * in about half a second, but is never smaller than what the workers take at once. The poller holds up to two
     * batches at a time. Default: 10 to 500.
     */
    public PollerBuilder batchSize(int min, int max) {
        this.minBatch = Require.between("batchSize min", min, 1, 5_000);
        this.maxBatch = Require.between("batchSize max", max, min, 5_000);
        return this;
    }

    /** A fixed batch size, 1 to 5,000. */
    public PollerBuilder batchSize(int batchSize) {
        Require.between("batchSize", batchSize, 1, 5_000);
        return batchSize(batchSize, batchSize);
    }

    /**
     * A claim ends with the item whose payload brings it to this many bytes, 64 KiB to 1 GiB, so that large payloads do
     * not fill the memory. The poller holds up to two batches at a time. Default: 16 MiB.
     */
    public PollerBuilder batchBytes(int batchBytes) {
        this.batchBytes = Require.between("batchBytes", batchBytes, 64 << 10, 1 << 30);
        return this;
    }

    /**
     * The most deliveries at a time, 1 to 1,000. If the poller routes by topic to several destinations, a single one gets half
     * of them at most. Default: 4.
     */
    public PollerBuilder concurrency(int concurrency) {
        this.concurrency = Require.between("concurrency", concurrency, 1, 1_000);
        return this;
    }

    /**
     * Where deliveries run, for instance on virtual threads. The poller never shuts it down. An item is given back
     * without counting an attempt if the executor refuses it, or has not begun it {@link #maxDeliveryTime} after the
     * item was first leased. Default: threads of the poller's own.
     */
    public PollerBuilder executor(Executor executor) {
        this.executor = Require.present("executor", executor);
        return this;
    }

    /**
     * How long a claim is valid without a renewal, 10 ms to 1 day: after this time another poller takes the items of a crashed
     * one. Default: 30 s, renewed every 10 s.
     */
    public PollerBuilder lease(Duration lease) {
        this.lease = Require.between("lease", lease, SHORTEST, DAY);
        return this;
    }

    /**
     * How long a delivery may take, 10 ms to 1 day. After that it is interrupted and counts as failed; a batch of
     * several items is called again in halves. Default: 5 min.
     */
    public PollerBuilder maxDeliveryTime(Duration maxDeliveryTime) {
        this.maxDeliveryTime = Require.between("maxDeliveryTime", maxDeliveryTime, SHORTEST, DAY);
        return this;
    }

    /**
     * The age from which an item becomes Dead instead of being put off once more without counting an attempt. Items are
     * put off because of a {@link RetryAfterException}, because their destination cannot be reached or accepts nothing,
     * or because their {@link UnknownTypeException type} is unknown. The age counts from when the item was first due,
     * and starts anew with a requeue. 10 ms to 366 days. Default: 7 days.
     */
    public PollerBuilder maxAge(Duration maxAge) {
        this.maxAge = Require.between("maxAge", maxAge, SHORTEST, YEAR);
        return this;
    }

    /** When failed items are retried, and how often. Default: {@link RetryPolicy#standard()}. */
    public PollerBuilder retry(RetryPolicy retry) {
        this.retry = Require.present("retry", retry);
        return this;
    }

    /**
     * Which exceptions show that the destination cannot be reached, whatever the message. Such a failure does not count
     * as an attempt. A destination may also report an outage itself, with {@link DestinationUnavailableException} or
     * {@link Outcome#unavailable}. Timeouts and lost connections need not be included: while the destination accepts
     * nothing they are treated as an outage, and otherwise they count. Default: {@link Outages#connectFailures()}; yours
     * replaces it, so combine them with {@code Outages.connectFailures().or(...)}.
     */
    public PollerBuilder outage(Predicate<Throwable> outage) {
        this.outage = Require.present("outage", outage);
        return this;
    }

    /** What a Dead message means for the later ones of its key. Default: {@link OnDead#SKIP}. */
    public PollerBuilder onDead(OnDead onDead) {
        this.onDead = Require.present("onDead", onDead);
        return this;
    }

    /**
     * The pause after a poll that found nothing; it grows from {@code min} to {@code max}. A message goes unnoticed for
     * {@code max} at most, unless its transaction commits long after it stored the message: then a sweep finds it,
     * usually within a second. Default: 50 ms to 1 s; each 10 ms to 1 day.
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

    /** How often the poller removes items whose retention is over, 10 ms to 1 day. Default: 1 min. */
    public PollerBuilder purgeEvery(Duration purgeEvery) {
        this.purgeEvery = Require.between("purgeEvery", purgeEvery, SHORTEST, DAY);
        return this;
    }

    /**
     * The poller claims only these topics, so that several pollers can share one table. Default: the topics with a
     * route, if the destination is {@link Routes} without {@link Routes#otherwise otherwise} or {@link
     * TransactionalRoutes} that {@link UnroutedTopic#LEAVE leave} others; with any other destination, all topics. An
     * item of another topic holds back its key for this poller too.
     */
    public PollerBuilder topics(String... topics) {
        for (String topic : topics) {
            this.topics.add(Require.text("topic", topic, Message.MAX_NAME));
        }
        return this;
    }

    /** Adds a wake-up for this poller. Default: none; {@link WorkQueue#poller()} adds the wake-up of its table. */
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

    /** @throws IllegalStateException if there is no destination, or a destination by topic has no route */
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
