package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Heartbeat;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

class PollersIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private static final Heartbeat BEAT = new Heartbeat(
            "node-1",
            "1.2",
            Duration.ofHours(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(30),
            Duration.ofMillis(250),
            null,
            null,
            false);

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void aRunningPollerTellsOfItselfUntilItIsClosed() {
        tables.enqueue(Message.to("orders").payload("x"));
        try (Poller poller =
                tables.outbox.poller().name("node-1").to(item -> {}).start()) {
            await().atMost(Duration.ofMinutes(2)).until(() -> !pollers().isEmpty());

            assertThat(pollers()).singleElement().satisfies(known -> {
                assertThat(known.name()).isEqualTo(poller.name());
                assertThat(known.phase()).isEqualTo("4");
                assertThat(known.lease()).isEqualTo(Duration.ofSeconds(30));
                assertThat(known.lastSuccess()).isNotNull();
            });
        }
        assertThat(pollers()).isEmpty();
    }

    @Test
    void aHeartbeatTellsWhatTheDoctorAsks() {
        tables.outbox.source().heartbeat(BEAT);
        tables.inbox.source().heartbeat(BEAT);
        tables.execute("UPDATE outbox_pollers SET seen_on = seen_on - interval '1 hour'");
        assertThat(pollers())
                .singleElement()
                .satisfies(known -> assertThat(known.silentFor()).isGreaterThanOrEqualTo(Duration.ofHours(1)));

        tables.outbox.source().heartbeat(BEAT);

        assertThat(pollers()).singleElement().satisfies(known -> {
            assertThat(known.silentFor()).isLessThan(Duration.ofHours(1));
            assertThat(known.version()).isEqualTo("1.2");
            assertThat(known.longestDelivery()).isEqualTo(Duration.ofMillis(250));
            assertThat(Duration.between(known.startedOn(), known.lastSuccess())).isGreaterThan(Duration.ofHours(1));
        });
        assertThat(tables.admin().status().get(1).pollers()).hasSize(1);
    }

    @Test
    void aHeartbeatTellsOfTheLastErrorThatThePollerSurvived() {
        tables.outbox.source().heartbeat(BEAT);
        assertThat(pollers()).singleElement().satisfies(known -> {
            assertThat(known.lastErrorOn()).isNull();
            assertThat(known.lastError()).isNull();
        });

        tables.outbox.source().heartbeat(survived("java.lang.OutOfMemoryError: Java heap space", Duration.ofHours(1)));

        assertThat(pollers()).singleElement().satisfies(known -> {
            assertThat(known.lastError()).isEqualTo("java.lang.OutOfMemoryError: Java heap space");
            assertThat(Duration.between(known.startedOn(), known.lastErrorOn())).isEqualTo(Duration.ofHours(1));
        });
    }

    @Test
    void anErrorThatIsNoProperTextIsToldAllTheSame() {
        tables.outbox.source().heartbeat(survived("bad \u0000" + "\uD83D\uDE80".repeat(2_000), Duration.ZERO));

        assertThat(pollers())
                .singleElement()
                .satisfies(known -> assertThat(known.lastError())
                        .startsWith("bad \uFFFD\uD83D\uDE80")
                        .hasSize(2_000));
    }

    @Test
    void aTableWithoutTheColumnsOfTheErrorIsComplainedOfOnce() {
        tables.execute("ALTER TABLE outbox_pollers DROP COLUMN last_error");
        var source = tables.outbox.source();

        assertThatThrownBy(() -> source.heartbeat(BEAT))
                .isInstanceOf(OutboxException.class)
                .hasMessageContainingAll("outbox_pollers", "last_error and last_error_on", "admin/V2__pollers.sql");
        source.heartbeat(BEAT);

        assertThat(pollers()).isEmpty();
        assertThat(tables.admin().health().state()).isEqualTo(Health.State.UP);
    }

    @Test
    void whoIsSilentForADayIsForgotten() {
        tables.outbox.source().heartbeat(BEAT);
        tables.execute("UPDATE outbox_pollers SET poller = 'gone', seen_on = seen_on - interval '25 hours'");

        tables.outbox.source().heartbeat(BEAT);

        assertThat(pollers()).extracting(KnownPoller::name).containsExactly("node-1");
    }

    /** With a lock timeout, so that a heartbeat that waits fails instead of hanging; this one waits for nobody. */
    @Test
    void aSilentPollerWhoseRowSomebodyHoldsIsLeftAlone(EmbeddedDatabase database) throws SQLException {
        tables.outbox.source().heartbeat(BEAT);
        tables.execute("UPDATE outbox_pollers SET poller = 'gone', seen_on = seen_on - interval '25 hours'");
        PGSimpleDataSource impatient = new PGSimpleDataSource();
        impatient.setUrl(database.jdbcUrl());
        impatient.setOptions("-c lock_timeout=1000");
        try (Connection holder = tables.dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT FROM outbox_pollers WHERE poller = 'gone' FOR UPDATE");

            PostgresOutbox.create(impatient).source().heartbeat(BEAT);

            assertThat(pollers()).extracting(KnownPoller::name).containsExactly("gone", "node-1");
            holder.rollback();
        }
    }

    @Test
    void aPollerDeliversWhileItsHeartbeatWaits() throws SQLException {
        tables.outbox.source().heartbeat(BEAT);
        try (Connection holder = tables.dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT FROM outbox_pollers WHERE poller = 'node-1' FOR UPDATE");
            Poller poller = tables.outbox.poller().name("node-1").to(item -> {}).start();
            try {
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> tables.value("""
                                SELECT count(*) FROM pg_stat_activity
                                WHERE datname = current_database() AND wait_event_type = 'Lock'
                                """).equals("1"));

                tables.enqueue(Message.to("orders").payload("x"));

                await().atMost(Duration.ofMinutes(2))
                        .until(() -> tables.value("SELECT status FROM outbox").equals("2"));
            } finally {
                holder.rollback();
                poller.close();
            }
        }
    }

    @Test
    void withoutItsTableAHeartbeatIsNothing() {
        tables.execute("ALTER TABLE outbox_pollers RENAME TO elsewhere");
        var source = tables.outbox.source();

        source.heartbeat(BEAT);
        assertThat(tables.admin().status().get(0).pollers()).isEmpty();

        tables.execute("ALTER TABLE elsewhere RENAME TO outbox_pollers");
        source.heartbeat(BEAT); // looks again after ten minutes only
        assertThat(pollers()).isEmpty();
        tables.outbox.source().heartbeat(BEAT);
        assertThat(pollers()).hasSize(1);
    }

    private static Heartbeat survived(String error, Duration ago) {
        return new Heartbeat(
                BEAT.poller(),
                BEAT.version(),
                BEAT.running(),
                BEAT.sinceSuccess(),
                BEAT.lease(),
                BEAT.longestDelivery(),
                error,
                ago,
                false);
    }

    private List<KnownPoller> pollers() {
        return tables.admin().status().get(0).pollers();
    }
}
