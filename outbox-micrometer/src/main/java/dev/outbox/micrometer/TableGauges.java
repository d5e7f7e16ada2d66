package dev.outbox.micrometer;

import dev.outbox.Message;
import dev.outbox.admin.Admin;
import dev.outbox.admin.Backlog;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows the backlog of a table as gauges. Reading a gauge queries the table, but at most once per {@link
 * #REFRESH_INTERVAL}, however many readers there are. If the table cannot be read, the gauges are {@code NaN}, and the
 * next query comes after the same interval.
 *
 * <p>The figures are those of the whole table, not of one process: bind them in one process, or in each process and use
 * the figures of one.
 */
public final class TableGauges {
    /** The shortest time between two queries of the table. */
    public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(15);

    private static final Logger LOG = LoggerFactory.getLogger(TableGauges.class);

    private final Supplier<TableReading> source;
    private final LongSupplier ticker;
    private final String table;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile @Nullable TableReading last;
    private volatile long askedAt;
    private volatile boolean asked;

    private TableGauges(String table, Supplier<TableReading> source, LongSupplier ticker) {
        this.table = table;
        this.source = source;
        this.ticker = ticker;
    }

    /**
     * Adds the gauges of the outbox or inbox that {@code admin} reads, each up to {@link Backlog#MOST}. A table before
     * phase 3 of its migration counts nothing.
     *
     * @param table the value of the tag {@code table}, as given to {@link OutboxMetrics}
     */
    public static void bind(MeterRegistry registry, String table, Admin admin, TableKind kind) {
        Require.present("admin", admin);
        Require.present("kind", kind);
        bind(registry, table, () -> read(admin, kind));
    }

    private static TableReading read(Admin admin, TableKind kind) {
        Backlog backlog = admin.backlog(kind);
        return new TableReading(
                backlog.ready(),
                backlog.processing(),
                backlog.dead(),
                backlog.oldestDue().orElse(Duration.ZERO));
    }

    /**
     * Adds gauges of other figures, for instance those of a source of your own.
     *
     * @param table the value of the tag {@code table}, as given to {@link OutboxMetrics}
     * @param reading reads the figures
     */
    public static void bind(MeterRegistry registry, String table, Supplier<TableReading> reading) {
        bind(registry, table, reading, System::nanoTime);
    }

    static void bind(MeterRegistry registry, String table, Supplier<TableReading> reading, LongSupplier ticker) {
        Require.present("registry", registry);
        Require.text("table", table, Message.MAX_NAME);
        TableGauges gauges = new TableGauges(table, Require.present("reading", reading), ticker);
        gauges.gauge(registry, "outbox.backlog", "items", "Items that wait, due or not", TableReading::ready);
        gauges.gauge(registry, "outbox.in.flight", "items", "Items that are leased", TableReading::processing);
        gauges.gauge(registry, "outbox.dead.items", "items", "Items given up, and still there", TableReading::dead);
        gauges.gauge(
                registry,
                "outbox.oldest.age",
                "seconds",
                "For how long the oldest due item has been due",
                full -> full.oldestDue().toMillis() / 1_000.0);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String unit,
            String description,
            ToDoubleFunction<TableReading> value) {
        Gauge.builder(name, this, gauges -> gauges.value(value))
                .description(description)
                .baseUnit(unit)
                .tags(Tags.of("table", table))
                .strongReference(true)
                .register(registry);
    }

    private double value(ToDoubleFunction<TableReading> figure) {
        if (isOld() && asking.tryLock()) { // others take what there is, and do not wait for a slow database
            try {
                if (isOld()) {
                    ask();
                }
            } finally {
                asking.unlock();
            }
        }
        TableReading reading = last;
        return reading == null ? Double.NaN : figure.applyAsDouble(reading);
    }

    private boolean isOld() {
        return !asked || ticker.getAsLong() - askedAt >= REFRESH_INTERVAL.toNanos();
    }

    private void ask() {
        try {
            last = source.get();
        } catch (RuntimeException e) {
            last = null;
            LOG.warn("gauges of {}: the table cannot be read, trying again after {}", table, REFRESH_INTERVAL, e);
        } finally {
            askedAt = ticker.getAsLong();
            asked = true;
        }
    }
}
