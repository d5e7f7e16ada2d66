package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.delivery.Poller;
import dev.outbox.spi.WakeUp;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** NOTIFY while everything works. */
class NotifyIT extends NotifyScenario {
    @Test
    void commitOfAnotherProcessWakesThePollerHere() {
        Outbox here = outbox(own("here"));
        Outbox there = outbox(own("there"));
        poll(here);

        deliversAgainAndAgain(there);
    }

    @Test
    void realOtherProcessWakesThePollerHere() throws Exception {
        Outbox here = outbox(own("here"));
        poll(here);
        deliversAgainAndAgain(outbox(own("there")));

        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EnqueueInAnotherProcess.class.getName(),
                        database.jdbcUrl(),
                        "from afar")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            await().until(() -> delivered.contains("from afar"));
        } finally {
            process.getOutputStream().close();
            process.destroyForcibly();
        }
    }

    @Test
    void notifyAloneWakesThePollersOfItsOwnProcess() {
        Outbox outbox = PostgresOutbox.builder(database.pool(4))
                .notify(own("own"))
                .wakesLocally(false)
                .build();
        poll(outbox);

        deliversAgainAndAgain(outbox);
    }

    /** Its own pollers were woken already, in memory. */
    @Test
    void isWokenByOthersAndNotByItself() {
        WatchedDataSource own = WatchedDataSource.around(own("own"));
        PostgresNotify here = notify(own.dataSource(), impatient(Duration.ofHours(1)));
        AtomicInteger woken = new AtomicInteger();
        subscriptions.add(here.subscribe(woken::incrementAndGet));
        long pings = own.count("NOTIFY");
        here.send();
        await().until(() -> own.count("NOTIFY") >= pings + 3);
        assertThat(woken).as("when it began to listen").hasValue(1);

        notify(own("there"), impatient()).send();
        await().until(() -> woken.get() == 2);
    }

    @Test
    void wakeUpsThatComeTogetherGoOutTogether() {
        WatchedDataSource own = WatchedDataSource.around(own("own"));
        Outbox outbox = outbox(own.dataSource());

        long start = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            outbox.wakeUp();
        }
        await().until(() -> own.count("NOTIFY") >= 1);
        long before = own.count("NOTIFY");
        outbox.wakeUp();
        await().until(() -> own.count("NOTIFY") > before);

        long mostAllowed = 2 + Duration.ofNanos(System.nanoTime() - start).toMillis() / 10;
        assertThat(own.count("NOTIFY")).isLessThanOrEqualTo(Math.min(mostAllowed, 500));
    }

    @Test
    void callersNeverWaitForNotifyAndItMissesNone() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch underWay = new CountDownLatch(1);
        WatchedDataSource own = WatchedDataSource.around(own("own")).gate(sql -> {
            underWay.countDown();
            held.await();
            return true;
        });
        Outbox outbox = outbox(own.dataSource());

        outbox.wakeUp();
        underWay.await();
        enqueue(outbox, "while the first is under way");
        for (int i = 0; i < 1_000; i++) {
            outbox.wakeUp();
        }
        assertThat(own.executed()).hasSize(1);
        held.countDown();

        await().until(() -> own.count("NOTIFY") == 2);
        outbox.wakeUp();
        await().until(() -> own.count("NOTIFY") == 3);
    }

    @Test
    void nothingIsSentWhenNothingWasStored() throws Exception {
        WatchedDataSource own = WatchedDataSource.around(own("own"));
        Outbox outbox = outbox(own.dataSource());
        int connectionsOfBuild = own.connections();
        DataSource waking = outbox.waking(database.dataSource());

        assertThatThrownBy(() -> outbox.transaction(database.dataSource(), tx -> {
                    outbox.enqueue(tx, message("1"));
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("2"));
            tx.rollback();
            outbox.enqueueAll(tx, List.of());
            tx.commit();
        }
        outbox.transaction(database.dataSource(), tx -> tx.createStatement().execute("SELECT 1"));
        assertThat(notifyThreads()).isEmpty();
        assertThat(own.connections()).isEqualTo(connectionsOfBuild);

        Message once = message("3").id("the same");
        outbox.transaction(database.dataSource(), tx -> outbox.enqueue(tx, once));
        await().until(() -> own.count("NOTIFY") == 1);
        outbox.transaction(database.dataSource(), tx -> outbox.enqueue(tx, once));
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, once);
            tx.commit();
            assertThat(own.count("NOTIFY")).isEqualTo(1);
            outbox.enqueue(tx, message("4"));
            tx.commit();
        }
        await().until(() -> own.count("NOTIFY") == 2);
        assertThat(own.executed()).noneMatch(sql -> sql.contains("LISTEN"));
    }

    @Test
    void isOffByDefault() throws Exception {
        WatchedDataSource all = WatchedDataSource.around(database.dataSource());
        Outbox outbox = PostgresOutbox.create(all.dataSource());
        poll(outbox);

        outbox.transaction(all.dataSource(), tx -> outbox.enqueue(tx, message("local")));
        await().until(() -> delivered.contains("local"));

        assertThat(notifyThreads()).isEmpty();
        assertThat(all.executed()).isNotEmpty().noneMatch(sql -> sql.contains("NOTIFY") || sql.contains("LISTEN"));
    }

    @Test
    void keepsOnlyConnectionsOfItsOwnDataSource() throws Exception {
        var pool = database.pool(4);
        Outbox outbox = PostgresOutbox.builder(pool).notify(own("own")).build();
        poll(outbox);
        enqueue(outbox, "1");
        await().until(() -> delivered.contains("1"));

        await().until(() -> backends("application_name = 'own'").size() == 2);
        await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        assertThat(backends("application_name <> 'own' AND (query LIKE 'LISTEN%' OR query LIKE 'NOTIFY%')"))
                .isEmpty();
    }

    @Test
    void poolGetsItsConnectionsBackAsTheyWere() throws Exception {
        var pool = database.pool(2);
        PostgresNotify notify = notify(pool, impatient());
        WakeUp.Subscription subscription = notify.subscribe(() -> {});
        await().until(() -> backend("LISTEN").size() == 1);
        subscription.close();
        await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);

        try (Connection one = pool.getConnection();
                Connection other = pool.getConnection()) {
            for (Connection connection : List.of(one, other)) {
                assertThat(connection.getNetworkTimeout()).isZero();
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery("SELECT count(*) FROM pg_listening_channels()")) {
                    row.next();
                    assertThat(row.getInt(1)).isZero();
                }
            }
        }
    }

    @Test
    void lastPollerToCloseEndsThreadsAndConnections() throws Exception {
        Outbox outbox = outbox(own("own"));
        Poller first = poll(outbox);
        Poller second = poll(outbox);
        deliversAgainAndAgain(outbox);
        await().until(() -> notifyThreads().size() == 2 && backend("LISTEN").size() == 1);

        first.close();
        deliversAgainAndAgain(outbox);
        assertThat(backend("LISTEN")).hasSize(1);

        second.close();
        await().until(() -> notifyThreads().isEmpty());
        await().until(() -> backends("application_name = 'own'").isEmpty());

        poll(outbox);
        deliversAgainAndAgain(outbox(own("there")));
    }

    @Test
    void lastSubscriberTakesTheSenderAlong() {
        PostgresNotify notify = notify(own("own"), impatient(Duration.ofHours(1)));
        WakeUp.Subscription subscription = notify.subscribe(() -> {});
        await().until(() -> backends("application_name = 'own'").size() == 2);

        subscription.close();
        await().until(() -> backends("application_name = 'own'").isEmpty());
    }

    @Test
    void refusesDataSourcesThatWillNeverDo() {
        DataSource pool = database.pool(2);
        assertThatThrownBy(() -> PostgresOutbox.builder(pool).notify(pool))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("notify(...) needs a DataSource of its own");
        assertThatThrownBy(() -> outbox(foreign()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("does not unwrap to org.postgresql.PGConnection");
        PGSimpleDataSource wrong = own("wrong");
        wrong.setDatabaseName("no_such_database");
        assertThatThrownBy(() -> outbox(wrong))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("the data source of notify(...) gives no connection");
    }

    private DataSource foreign() {
        return (DataSource) Proxy.newProxyInstance(
                NotifyIT.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                    Connection connection = database.dataSource().getConnection();
                    return Proxy.newProxyInstance(
                            NotifyIT.class.getClassLoader(),
                            new Class<?>[] {Connection.class},
                            (proxy, call, values) ->
                                    call.getName().equals("isWrapperFor") ? false : call.invoke(connection, values));
                });
    }
}
