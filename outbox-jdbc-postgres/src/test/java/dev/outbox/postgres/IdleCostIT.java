package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.EmbeddedDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an idle poller costs, in statements: the numbers of docs/explanation/wake-up.md. */
@Timeout(60)
class IdleCostIT {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    /** Every idle poll asks all three queues; the last of them by this statement. */
    private static final String CLAIM = "WITH arrived";

    private static final String OTHER_ROADS = "WITH picked";
    private static final String NEXT_DUE = "SELECT (EXTRACT(EPOCH";
    private static final String EXPIRE = "lease expired";

    /** Whether there is a table for heartbeats; there is none, and that is looked at every ten minutes. */
    private static final String HEARTBEAT = "to_regclass(";

    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    private final AtomicLong now = new AtomicLong();
    private final WatchedDataSource watched = WatchedDataSource.around(database.pool(2));

    @BeforeAll
    static void bePatient() {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    }

    @BeforeEach
    void install() {
        OutboxMigrations.installIfMissing(database.dataSource());
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** The poller's clock goes on by the longest idle pause with each claim, as it would in a day of nothing. */
    @Test
    void idlePollerIssuesItsFloorAndNoMore() {
        Duration maxIdle = Duration.ofSeconds(1);
        Duration lease = Duration.ofSeconds(30);
        watched.gate(sql -> {
            if (sql.contains(CLAIM)) {
                now.addAndGet(maxIdle.toNanos());
            }
            return true;
        });
        Outbox outbox =
                PostgresOutbox.builder(watched.dataSource()).ticker(now::get).build();
        watched.executed().clear();
        Poller poller = outbox.poller()
                .to(item -> {})
                .lease(lease)
                .idle(Duration.ofMillis(10), Duration.ofMillis(10))
                .purgeEvery(DAY)
                .start();
        await().until(() -> watched.count(CLAIM) >= 120);
        poller.close();

        long claims = watched.count(CLAIM);
        long quartersOfLease = claims * maxIdle.toSeconds() * 4 / lease.toSeconds();
        assertThat(watched.count(NEXT_DUE)).isBetween(claims / 10 - 1, claims / 10 + 1);
        assertThat(watched.count(EXPIRE)).isBetween(claims / 8 - 1, quartersOfLease + 1);
        assertThat(watched.count(OTHER_ROADS)).isBetween(2 * claims - 2, 2 * claims + 2);
        assertThat(watched.count(HEARTBEAT)).isLessThanOrEqualTo(1 + claims * maxIdle.toSeconds() / 600);
        assertThat(watched.executed().size()
                        - claims
                        - watched.count(HEARTBEAT)
                        - watched.count(OTHER_ROADS)
                        - watched.count(NEXT_DUE)
                        - watched.count(EXPIRE))
                .as("anything else in %d idle periods", claims)
                .isZero();
    }

    @Test
    void idlePauseIsOneClaim() {
        AtomicInteger delivered = new AtomicInteger();
        Outbox outbox = PostgresOutbox.create(watched.dataSource());
        Poller poller = outbox.poller()
                .to(item -> delivered.incrementAndGet())
                .idle(HOUR, HOUR)
                .start();
        await().until(() -> watched.count(NEXT_DUE) == 1);
        long before = watched.count(CLAIM);

        whileOthersAreBusy();

        assertThat(watched.count(CLAIM)).isEqualTo(before);
        poller.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void thousandDueItemsBehindABlockedKeyDoNotMakeItSpin(boolean leasedElsewhere) {
        Outbox outbox = PostgresOutbox.create(watched.dataSource());
        Message head = Message.to("orders.placed").key("blocked").payload("head");
        List<Message> messages = new ArrayList<>(List.of(leasedElsewhere ? head : head.dueIn(DAY)));
        for (int i = 0; i < 1_000; i++) {
            messages.add(
                    Message.to("orders.placed").key("blocked").payload("behind").dueIn(Duration.ofMillis(1)));
        }
        outbox.transaction(database.dataSource(), tx -> outbox.enqueueAll(tx, messages));
        if (leasedElsewhere) {
            assertThat(outbox.source()
                            .claim(new ClaimRequest(1, DAY, 10, Set.of(), "elsewhere"))
                            .items())
                    .hasSize(1);
        }
        watched.executed().clear();
        AtomicInteger delivered = new AtomicInteger();
        Poller poller = outbox.poller()
                .to(item -> delivered.incrementAndGet())
                .idle(HOUR, HOUR)
                .start();
        await().until(() -> watched.count(NEXT_DUE) == 1);
        long before = watched.count(CLAIM);

        whileOthersAreBusy();

        assertThat(before).isLessThanOrEqualTo(3);
        assertThat(watched.count(CLAIM)).isEqualTo(before);
        assertThat(watched.count(NEXT_DUE)).isEqualTo(1);
        assertThat(delivered).hasValue(0);
        poller.close();
    }

    /** As much work as would let a poller that spins claim a hundred times. */
    private void whileOthersAreBusy() {
        var other = PostgresOutbox.create(database.pool(1)).source();
        for (int i = 0; i < 100; i++) {
            other.claim(new ClaimRequest(1, DAY, 10, Set.of("another topic"), "other"));
        }
    }
}
