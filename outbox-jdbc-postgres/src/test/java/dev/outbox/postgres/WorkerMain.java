package dev.outbox.postgres;

import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A poller in a JVM of its own, to be killed. It says on stdout what it does, and on stdin is told to go on
 * ({@code go}) or to close ({@code close}); it ends with the test that started it.
 */
final class WorkerMain {
    /** Where it stops and waits. */
    enum Mode {
        HANG_WHEN_CLAIMED,
        HANG_IN_DELIVERY,
        HANG_IN_SETTLE,
        /** A delivery that has had its effect waits for "go", whatever interrupts it, and then succeeds. */
        PAUSE_IN_DELIVERY,
        /** Delivers one by one; a payload "poison" ends the JVM on the spot. */
        HALT_ON_POISON,
        /** Every delivery fails. */
        FAIL
    }

    /** How its poller is built. */
    record Settings(Mode mode, Duration lease, int batchSize, int concurrency, int maxAttempts) {
        Settings(Mode mode, Duration lease) {
            this(mode, lease, 100, 1, 10);
        }

        List<String> toArguments() {
            return List.of(mode.name(), lease.toString(), "" + batchSize, "" + concurrency, "" + maxAttempts);
        }

        static Settings of(List<String> arguments) {
            return new Settings(
                    Mode.valueOf(arguments.get(0)),
                    Duration.parse(arguments.get(1)),
                    Integer.parseInt(arguments.get(2)),
                    Integer.parseInt(arguments.get(3)),
                    Integer.parseInt(arguments.get(4)));
        }
    }

    static final String NAME = "worker";

    private static final CountDownLatch GO = new CountDownLatch(1);
    private static final CountDownLatch CLOSE = new CountDownLatch(1);

    private WorkerMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(arguments[0]);
        Settings settings = Settings.of(List.of(arguments).subList(2, arguments.length));
        listenToStdin();
        Outbox outbox = PostgresOutbox.builder(dataSource).table(arguments[1]).build();
        DeliveryLog log = new DeliveryLog(dataSource, arguments[1]);
        Mode mode = settings.mode();
        Source source = mode == Mode.HANG_IN_SETTLE ? new HangingInSettle(outbox.source()) : outbox.source();
        PollerBuilder builder = Poller.from(source)
                .to(destination(mode, log))
                .name(NAME)
                .lease(settings.lease())
                .batchSize(settings.batchSize())
                .concurrency(settings.concurrency())
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(1), settings.maxAttempts()))
                .drainTimeout(Duration.ofMillis(100))
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .listener(event -> tell(event, mode));
        if (mode == Mode.HALT_ON_POISON) {
            Poller poller = builder.build();
            while (CLOSE.getCount() > 0) {
                poller.pollOnce();
            }
            return;
        }
        Poller poller = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(poller::close));
        CLOSE.await();
        poller.close();
        say("closed");
        System.exit(0);
    }

    private static Destination destination(Mode mode, DeliveryLog log) {
        return item -> {
            say("delivering " + item.messageId());
            switch (mode) {
                case HANG_IN_DELIVERY -> new CountDownLatch(1).await();
                case HALT_ON_POISON -> haltIfPoison(item);
                case FAIL -> throw new IllegalStateException("no");
                default -> {}
            }
            log.record(item, NAME);
            say("delivered " + item.messageId());
            if (mode == Mode.PAUSE_IN_DELIVERY) {
                awaitWhateverHappens(GO);
            }
        };
    }

    private static void haltIfPoison(WorkItem item) {
        if (item.payload().equals("poison")) {
            say("halting");
            Runtime.getRuntime().halt(9);
        }
    }

    private static void tell(OutboxEvent event, Mode mode) {
        if (event instanceof OutboxEvent.Claimed claimed) {
            say("claimed " + claimed.items().size());
            if (mode == Mode.HANG_WHEN_CLAIMED) {
                awaitWhateverHappens(new CountDownLatch(1));
            }
        } else if (event instanceof OutboxEvent.Fenced fenced) {
            say("fenced " + fenced.item().messageId());
        } else if (event instanceof OutboxEvent.LeaseLost lost) {
            say("lost " + lost.items().size());
        } else if (event instanceof OutboxEvent.PollFailed) {
            say("failed");
        } else if (event instanceof OutboxEvent.Dead dead) {
            say("dead " + dead.item().messageId());
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
    }

    private static void listenToStdin() {
        Thread listener = new Thread(
                () -> {
                    try (BufferedReader in =
                            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                        String line;
                        while ((line = in.readLine()) != null) {
                            (line.equals("go") ? GO : CLOSE).countDown();
                        }
                    } catch (IOException e) {
                        say("stdin is gone");
                    }
                    Runtime.getRuntime().halt(1);
                },
                "stdin");
        listener.setDaemon(true);
        listener.start();
    }

    private static void awaitWhateverHappens(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                say("interrupted");
            }
        }
    }

    /** Everything is delivered, but the word never gets to the database. */
    private record HangingInSettle(Source source) implements Source {
        @Override
        public Claim claim(ClaimRequest request) {
            return source.claim(request);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            say("settling");
            awaitWhateverHappens(new CountDownLatch(1));
            throw new AssertionError();
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            return source.renew(leases, length);
        }

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            return source.nextDue(topics);
        }
    }
}
