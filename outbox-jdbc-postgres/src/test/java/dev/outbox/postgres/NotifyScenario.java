package dev.outbox.postgres;

import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.WakeUp;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** Pollers that sleep an hour when idle, so that what arrives was woken for. */
@Timeout(60)
abstract class NotifyScenario {
    private static final Duration HOUR = Duration.ofHours(1);

    final EmbeddedDatabase database = EmbeddedDatabase.create();
    final List<Poller> pollers = new ArrayList<>();
    final List<WakeUp.Subscription> subscriptions = new ArrayList<>();
    final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Set<Thread> before = Thread.getAllStackTraces().keySet();
    private int sent;

    @BeforeAll
    static void bePatient() {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    }

    @BeforeEach
    void install() {
        OutboxMigrations.installIfMissing(database.dataSource());
    }

    @AfterEach
    void closeAll() {
        pollers.forEach(Poller::close);
        subscriptions.forEach(WakeUp.Subscription::close);
        database.close();
    }

    /** One after the other: the first may be found by the start of something, the last only by being woken. */
    void deliversAgainAndAgain(Outbox from) {
        for (int i = 0; i < 4; i++) {
            String payload = "message " + sent++;
            enqueue(from, payload);
            await().until(() -> delivered.contains(payload));
        }
    }

    void enqueue(Outbox outbox, String payload) {
        outbox.transaction(database.dataSource(), tx -> outbox.enqueue(tx, message(payload)));
    }

    static Message message(String payload) {
        return Message.to("orders.placed").payload(payload);
    }

    Poller poll(Outbox outbox) {
        Poller poller = outbox.poller()
                .to(item -> delivered.add(item.payload()))
                .idle(HOUR, HOUR)
                .start();
        pollers.add(poller);
        return poller;
    }

    Outbox outbox(DataSource notify) {
        return PostgresOutbox.builder(database.pool(4)).notify(notify).build();
    }

    PostgresNotify notify(DataSource own, NotifyTimes times) {
        return new PostgresNotify(own, channel(), false, times);
    }

    static String channel() {
        return "outbox_4711";
    }

    static NotifyTimes impatient() {
        return impatient(Duration.ofMillis(50));
    }

    static NotifyTimes impatient(Duration linger) {
        Duration tick = Duration.ofMillis(50);
        return new NotifyTimes(Duration.ofMillis(1), linger, tick, Duration.ofMillis(500), tick, tick);
    }

    PGSimpleDataSource own(String name) {
        PGSimpleDataSource own = new PGSimpleDataSource();
        own.setUrl(database.jdbcUrl());
        own.setApplicationName(name);
        return own;
    }

    /** Of this test: those of earlier ones may linger. */
    List<String> notifyThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name -> name.startsWith("outbox-notify-") || name.startsWith("outbox-listen-"))
                .toList();
    }

    /** The process ids of sessions whose last statement starts so. */
    List<String> backend(String statement) throws SQLException {
        return backends("query LIKE '" + statement + "%'");
    }

    List<String> backends(String condition) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pid FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND pid <> pg_backend_pid() AND " + condition)) {
            List<String> pids = new ArrayList<>();
            while (rows.next()) {
                pids.add(rows.getString(1));
            }
            return pids;
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** A data source on which every statement fails while this is true. */
    WatchedDataSource downWhile(AtomicBoolean down, String name) {
        return WatchedDataSource.around(own(name)).gate(sql -> {
            if (down.get()) {
                throw new SQLException("down for a test", "08006");
            }
            return true;
        });
    }
}
