package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Outbox;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** NOTIFY on a bad day: polling is always right, and NOTIFY comes back by itself. */
class NotifyFailureIT extends NotifyScenario {
    @Test
    void withNotifyUnreachableCommitsAndPollingGoOn() throws Exception {
        PGSimpleDataSource nobody = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            nobody.setPortNumbers(new int[] {free.getLocalPort()});
        }
        try (CapturedLog log = new CapturedLog()) {
            Outbox outbox = PostgresOutbox.builder(database.pool(4))
                    .notify(nobody)
                    .wakesLocally(false)
                    .build();
            assertThat(log.warnings("the data source of notify(...) gives no connection now"))
                    .hasSize(1);
            pollers.add(outbox.poller()
                    .to(item -> delivered.add(item.payload()))
                    .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                    .start());

            deliversAgainAndAgain(outbox);
        }
    }

    @Test
    void sendsWhatItOwesWhenTheDatabaseIsBack() {
        poll(outbox(own("here")));
        AtomicBoolean down = new AtomicBoolean();
        WatchedDataSource own = downWhile(down, "there");
        Outbox there = outbox(own.dataSource());
        deliversAgainAndAgain(there);

        down.set(true);
        long before = own.count("NOTIFY");
        enqueue(there, "owed");
        await().until(() -> own.count("NOTIFY") > before);
        down.set(false);

        await().until(() -> delivered.contains("owed"));
    }

    @Test
    void listensAgainAfterItsConnectionWasLost() throws Exception {
        Outbox here = outbox(own("here"));
        Outbox there = outbox(own("there"));
        poll(here);
        deliversAgainAndAgain(there);

        List<String> before = backend("LISTEN");
        assertThat(before).hasSize(1);
        execute("SELECT pg_terminate_backend(" + before.get(0) + ")");
        await().until(() -> backend("LISTEN").size() == 1 && !backend("LISTEN").equals(before));

        deliversAgainAndAgain(there);
    }

    @Test
    void sendsAgainAfterItsConnectionWasLost() throws Exception {
        poll(outbox(own("here")));
        Outbox there = outbox(own("there"));
        deliversAgainAndAgain(there);

        execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'there'");

        deliversAgainAndAgain(there);
    }

    @Test
    void whatWasEnqueuedWhileNobodyListenedIsFoundAtOnce() throws Exception {
        AtomicBoolean down = new AtomicBoolean();
        WatchedDataSource here = downWhile(down, "here");
        WatchedDataSource there = WatchedDataSource.around(own("there"));
        poll(outbox(here.dataSource()));
        Outbox writer = outbox(there.dataSource());
        deliversAgainAndAgain(writer);

        down.set(true);
        execute("SELECT pg_terminate_backend(" + backend("LISTEN").get(0) + ")");
        long attempts = here.count("LISTEN");
        await().until(() -> here.count("LISTEN") > attempts);
        long sentBefore = there.count("NOTIFY");
        enqueue(writer, "unheard");
        await().until(() -> there.count("NOTIFY") > sentBefore);
        down.set(false);

        await().until(() -> delivered.contains("unheard"));
    }

    @Test
    void testsItselfInSilenceAndWakesNobodyByThat() {
        WatchedDataSource own = WatchedDataSource.around(own("own"));
        AtomicInteger woken = new AtomicInteger();
        AtomicInteger wokenElsewhere = new AtomicInteger();
        subscriptions.add(notify(own("elsewhere"), impatient()).subscribe(wokenElsewhere::incrementAndGet));
        await().until(() -> wokenElsewhere.get() == 1);
        subscriptions.add(notify(own.dataSource(), impatient()).subscribe(woken::incrementAndGet));
        await().until(() -> own.count("NOTIFY " + channel() + ", 'ping'") >= 4);

        assertThat(own.count("LISTEN")).isEqualTo(1);
        assertThat(own.count("NOTIFY")).isEqualTo(own.count("NOTIFY " + channel() + ", 'ping'"));
        assertThat(woken).as("when it began to listen").hasValue(1);
        assertThat(wokenElsewhere).as("when it began to listen").hasValue(1);
    }

    @Test
    void listenThatIsNotHeardIsWarnedOfOnceAndTriedAgain() {
        AtomicBoolean deaf = new AtomicBoolean(true);
        WatchedDataSource own =
                WatchedDataSource.around(own("own")).gate(sql -> !(deaf.get() && sql.startsWith("LISTEN")));
        try (CapturedLog log = new CapturedLog()) {
            subscriptions.add(notify(own.dataSource(), impatient()).subscribe(() -> {}));
            await().until(() -> own.count("LISTEN") >= 3);
            assertThat(log.warnings("is sent but not received")).hasSize(1);
            assertThat(log.warnings("DataSource that connects to PostgreSQL directly"))
                    .hasSize(1);

            deaf.set(false);
            await().until(() -> backend("LISTEN").size() == 1);
            long tests = own.count("LISTEN");
            long pings = own.count("NOTIFY");
            await().until(() -> own.count("NOTIFY") >= pings + 3);
            assertThat(own.count("LISTEN")).isEqualTo(tests);
        }
    }
}
