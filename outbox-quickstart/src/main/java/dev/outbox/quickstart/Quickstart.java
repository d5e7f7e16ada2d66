package dev.outbox.quickstart;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Inbox;
import dev.outbox.Outbox;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Starts a PostgreSQL, lets customers order in a shop while pollers deliver its messages to a broker, and checks in the end
 * that every promise was kept. {@code -Dquickstart.orders=} sets the number of orders; default: 3,000. {@code
 * -Dquickstart.url=} names an empty database, PostgreSQL or SQL Server, to use instead.
 */
public final class Quickstart {
    private static final int POLLERS = 3;
    private static final int CONNECTIONS = 14;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final PrintStream out;
    private final boolean terminal;

    Quickstart(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** @throws IllegalStateException if a promise was broken */
    public static void main(String[] args) throws Exception {
        int orders = Integer.getInteger("quickstart.orders", 3_000);
        Report report =
                new Quickstart(System.out, Progress.isTerminal()).run(System.getProperty("quickstart.url"), orders);
        System.out.println();
        System.out.println(report.table(Charset.defaultCharset()));
        if (!report.isKept()) {
            throw new IllegalStateException("the library broke its promise, see the table above");
        }
    }

    /** @param url of an empty database; null to start one */
    Report run(@Nullable String url, int orders) throws Exception {
        if (url == null) {
            out.println("Starting PostgreSQL ...");
            try (EmbeddedPostgres postgres = EmbeddedPostgres.start();
                    HikariDataSource dataSource = pool(postgres.getJdbcUrl("postgres", "postgres"))) {
                return run(Engine.POSTGRES, dataSource, orders);
            }
        }
        Engine engine = Engine.of(url);
        out.println("On the " + engine + " database given ...");
        try (HikariDataSource dataSource = pool(url)) {
            Engine.checkEmpty(dataSource);
            try {
                return run(engine, dataSource, orders);
            } finally {
                Engine.clear(dataSource);
            }
        }
    }

    private Report run(Engine engine, DataSource dataSource, int orders) throws Exception {
        Outbox outbox = engine.outbox(dataSource);
        Inbox inbox = engine.inbox(dataSource, "accounting");
        Shop shop = new Shop(dataSource, outbox);
        shop.createTable();
        Accounting accounting = new Accounting(dataSource, inbox);
        accounting.createTable();
        Wire wire = new Wire(accounting);
        Broker broker = new Broker(wire);
        try (wire) {
            deliver(dataSource, outbox, shop, broker, orders);
        }
        return Report.of(
                Ledger.read(dataSource, engine),
                broker.arrivals(),
                shop.rolledBack(),
                broker.failedCalls(),
                wire.arrivals());
    }

    private void deliver(DataSource dataSource, Outbox outbox, Shop shop, Broker broker, int orders) throws Exception {
        out.printf("%,d orders, %d messages each, %d pollers%n", orders, Shop.MESSAGES_PER_ORDER, POLLERS);
        Progress progress = new Progress(out, terminal, shop, broker);
        List<Poller> pollers = new ArrayList<>();
        try (Customers customers = Customers.order(shop, orders)) {
            for (int i = 0; i < POLLERS; i++) {
                pollers.add(startPoller(outbox, broker));
            }
            while (!customers.areDone()) {
                progress.show();
                Thread.sleep(20);
            }
            long giveUp = System.nanoTime() + PATIENCE.toNanos();
            while (Ledger.unfinished(dataSource) > 0 && System.nanoTime() - giveUp < 0) {
                progress.show();
                Thread.sleep(20);
            }
        } finally {
            pollers.forEach(Poller::close);
        }
        progress.finish();
    }

    private static Poller startPoller(Outbox outbox, Broker broker) {
        Destination destination = item -> broker.publish(item.topic(), item.key(), item.messageId(), item.payload());
        RetryPolicy retry = RetryPolicy.standard().baseDelay(Duration.ofMillis(20));
        return outbox.poller().to(destination).retry(retry).start();
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }
}
