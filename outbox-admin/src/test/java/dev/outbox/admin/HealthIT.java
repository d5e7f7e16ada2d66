package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.TableKind;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

class HealthIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void emptyTablesAreUp() {
        tables.enqueue(Message.to("orders").payload("x"));

        assertThat(tables.admin().health()).isEqualTo(new Health(Health.State.UP, List.of()));
    }

    @Test
    void whatIsBeyondItsLimitIsToldTogether() {
        tables.enqueue(Message.to("orders").key("k").payload("x"));
        tables.enqueue(Message.to("orders").payload("x"));
        tables.killAll("poison", OnDead.BLOCK);
        tables.enqueue(Message.to("orders").payload("x"));
        tables.execute("UPDATE outbox SET created_on = created_on - interval '1 hour' WHERE status = 0");
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, lease_ms, longest_delivery_ms, phase, table_name, poller,
                    version)
                VALUES (statement_timestamp(), statement_timestamp() - interval '1 hour', 30000, 10, 4, 'public.outbox',
                        'node-1', '1')
                """);

        Health health = tables.admin().health(HealthLimits.standard().dead(1));

        assertThat(health.state()).isEqualTo(Health.State.DEGRADED);
        assertThat(health.reasons())
                .satisfiesExactly(
                        reason -> assertThat(reason).startsWith("public.outbox: an item has been due for PT1H"),
                        reason -> assertThat(reason).isEqualTo("public.outbox: more than 1 items are Dead"),
                        reason -> assertThat(reason).startsWith("public.outbox: 1 key is blocked by a Dead item"),
                        reason ->
                                assertThat(reason).startsWith("public.outbox: poller node-1 has been silent for PT1H"));
        assertThat(tables.admin()
                        .health(HealthLimits.standard()
                                .oldestDue(Duration.ofHours(3))
                                .dead(2)
                                .silence(Duration.ofDays(1)))
                        .reasons())
                .hasSize(1);
    }

    @Test
    void aPollerThatWasReplacedIsNotMissed() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, lease_ms, longest_delivery_ms, phase, table_name, poller,
                    version)
                VALUES (statement_timestamp(), statement_timestamp() - interval '1 hour', 30000, 10, 4, 'public.outbox',
                        'killed', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 10, 4, 'public.outbox', 'its successor', '1')
                """);

        assertThat(tables.admin().health()).isEqualTo(new Health(Health.State.UP, List.of()));
    }

    @Test
    void aPollerThatSurvivedAnErrorWithinTheHourIsAReason() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_error_on, last_error, lease_ms, longest_delivery_ms,
                    phase, table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '50 minutes',
                        'java.lang.OutOfMemoryError: Java heap space', 30000, 10, 4, 'public.outbox', 'shaken', '1'),
                    (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '70 minutes',
                        'java.lang.StackOverflowError', 30000, 10, 4, 'public.outbox', 'recovered', '1')
                """);

        Health health = tables.admin().health();

        assertThat(health.state()).isEqualTo(Health.State.DEGRADED);
        assertThat(health.reasons())
                .singleElement()
                .asString()
                .startsWith("public.outbox: poller shaken survived an error at ")
                .endsWith("Z: java.lang.OutOfMemoryError: Java heap space");
    }

    @Test
    void aTableOnItsWayIsNoReasonToBeDown() {
        tables.execute("COMMENT ON TABLE inbox IS 'dev.outbox inbox phase 2'");

        assertThat(tables.admin().health().state()).isEqualTo(Health.State.UP);
    }

    @Test
    @Timeout(120)
    void nobodyWaitsLongForATableThatIsLocked() throws SQLException {
        Admin admin =
                Admin.of(tables.dataSource).glanceTimeout(Duration.ofSeconds(1)).build();
        try (Connection holder = tables.dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE");

            assertThat(admin.health().state()).isEqualTo(Health.State.DOWN);
            assertThatThrownBy(() -> admin.backlog(TableKind.OUTBOX))
                    .isInstanceOfSatisfying(
                            OutboxException.class,
                            e -> assertThat(e.isRetryable()).isTrue());
            holder.rollback();
        }
        assertThat(tables.admin().health().state()).isEqualTo(Health.State.UP);
    }

    @Test
    void aDatabaseThatDoesNotAnswerIsDownAndNothingIsThrown() {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setUrl("jdbc:postgresql://localhost:1/nowhere?password=secret");
        tables.execute("DROP TABLE outbox, inbox");

        assertThat(Admin.of(nowhere).build().health().state()).isEqualTo(Health.State.DOWN);
        assertThat(Admin.of(nowhere).build().health().reasons().toString()).doesNotContain("secret");
        assertThat(tables.admin().health().reasons()).singleElement().asString().contains("outbox-migrations");
    }
}
