package dev.outbox.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Inbox;
import dev.outbox.Outbox;
import dev.outbox.WorkQueue;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.TransactionalSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/**
 * A worker: a poller of the outbox whose destination is a consumer with an inbox, and a poller of that inbox. On stdin
 * it is told {@code calm}, {@code pause MILLIS}, {@code exhaust MILLIS}, {@code clock MILLIS},
 * {@code down MILLIS RECOGNISED} or {@code slow MILLIS}. On SIGTERM it closes its pollers.
 */
final class WorkerMain {
    private WorkerMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        ChildSettings settings = ChildSettings.fromProperties();
        HikariDataSource pool = ChildProcess.pool(settings);
        Step.Plan plan = new Step.Plan(settings.crashAt(), settings.crashPass());
        AtomicReference<Consumer> atWork = new AtomicReference<>();
        History history = new History(settings.history());
        ChildProcess.listen(line -> {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "calm" -> {
                    plan.calm();
                    pause(atWork.get(), Duration.ZERO);
                }
                case "pause" -> pause(atWork.get(), millis(words[1]));
                case "exhaust" -> {
                    history.write("injected", Fault.POOL_EXHAUSTION);
                    ChildProcess.exhaust(pool, Long.parseLong(words[1]));
                }
                case "down" -> {
                    if (atWork.get() != null) {
                        atWork.get().impairment().down(millis(words[1]), Boolean.parseBoolean(words[2]));
                    }
                }
                case "slow" -> {
                    if (atWork.get() != null) {
                        atWork.get().impairment().slow(millis(words[1]));
                    }
                }
                case "clock" -> ChildProcess.jump(history, millis(words[1]));
                default -> throw new IllegalArgumentException("what is \"" + line + "\"?");
            }
        });
        Variant variant = Variant.named(settings.variant());
        DataSource dataSource = variant.dataSource(pool);
        Outbox outbox = ChildProcess.untilItWorks(() -> PostgresOutbox.builder(dataSource)
                .table(settings.tables().outbox())
                .refreshInterval(Migration.REFRESH)
                .build());
        Inbox inbox = ChildProcess.untilItWorks(() -> PostgresInbox.builder(dataSource)
                .table(settings.tables().inbox())
                .consumer("torture")
                .lockTimeout(Duration.ofMillis(1_500))
                .build());
        Consumer consumer = new Consumer(settings, pool, variant.inbox(inbox), history, plan);
        atWork.set(consumer);
        Poller deliveries = poller(settings, watched(outbox, variant, pool, history, plan))
                .name(settings.name())
                .batchSize(settings.minBatch(), 200)
                .toBatch(consumer)
                .start();
        Poller handling = poller(settings, watched(inbox, variant, pool, history, plan))
                .name(settings.name() + "-inbox")
                .batchSize(10, 50)
                .concurrency(2)
                .inTransaction(consumer)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            deliveries.close();
            handling.close();
        }));
        new CountDownLatch(1).await();
    }

    private static Duration millis(String word) {
        return Duration.ofMillis(Long.parseLong(word));
    }

    private static void pause(Consumer consumer, Duration within) {
        if (consumer != null) { // else it is still starting
            consumer.pauseWithin(within);
        }
    }

    private static TransactionalSource watched(
            WorkQueue queue, Variant variant, DataSource pool, History history, Step.Plan plan) {
        TransactionalSource source = (TransactionalSource) queue.source();
        return new WatchedSource(variant.source(source, pool), history, plan);
    }

    private static PollerBuilder poller(ChildSettings settings, TransactionalSource source) {
        return Poller.from(source)
                .lease(ChildSettings.LEASE)
                .idle(Duration.ofMillis(10), Duration.ofMillis(100))
                .retry(new RetryPolicy(Duration.ofMillis(10), Duration.ofMillis(200), settings.maxAttempts()))
                .maxDeliveryTime(settings.maxDeliveryTime())
                .drainTimeout(Duration.ofMillis(500));
    }
}
