package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimCycle.Expired;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Unreadable;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimCycleTest {
    private static final int BATCH = 3;
    private static final Duration LEASE = Duration.ofSeconds(40);
    private static final Connection NOBODY_ASKS = (Connection) Proxy.newProxyInstance(
            Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
            });

    private final AtomicLong time = new AtomicLong();
    private final List<Settlement> settled = new ArrayList<>();
    private Expired expired = expired(0);
    private Duration searchTakes = Duration.ZERO;
    private int searches;
    private ClaimedRows claimed = claimed(List.of(), List.of());
    private final ClaimCycle claiming = new ClaimCycle(
            new ClaimCycle.Statements() {
                @Override
                public Expired expire(Connection connection, ClaimRequest request) {
                    searches++;
                    time.addAndGet(searchTakes.toNanos());
                    return expired;
                }

                @Override
                public ClaimedRows claim(Connection connection, ClaimRequest request) {
                    return claimed;
                }

                @Override
                public Unchanged settle(Connection connection, List<Settlement> settlements) {
                    settled.addAll(settlements);
                    return Unchanged.NONE;
                }
            },
            time::get);

    @Test
    void expiredLeasesAreLookedForAtFirstAndThenAQuarterOfALeaseApart() throws SQLException {
        claim();
        claim();
        assertThat(searches).isEqualTo(1);

        pass(Duration.ofSeconds(9));
        claim();
        assertThat(searches).isEqualTo(1);

        pass(Duration.ofSeconds(1));
        claim();
        assertThat(searches).isEqualTo(2);
    }

    @Test
    void aSearchThatFoundAsManyAsItMayIsRepeatedAtOnce() throws SQLException {
        expired = expired(BATCH);
        assertThat(claim().more()).isTrue();
        expired = expired(BATCH - 1);
        assertThat(claim().more()).isFalse();
        claim();

        assertThat(searches).isEqualTo(2);
    }

    @Test
    void aSlowSearchIsRarerButNotRarerThanAMinute() throws SQLException {
        searchTakes = Duration.ofSeconds(1);
        claim();
        pass(Duration.ofSeconds(19));
        claim();
        assertThat(searches).as("a twentieth of the time").isEqualTo(1);
        pass(Duration.ofSeconds(1));
        searchTakes = Duration.ofSeconds(10);
        claim();
        assertThat(searches).isEqualTo(2);

        pass(Duration.ofSeconds(60));
        claim();

        assertThat(searches).isEqualTo(3);
    }

    @Test
    void aClaimAnswersWhatTheSearchFound() throws SQLException {
        expired = new Expired(List.of(item(1, null)), List.of(item(2, null)), false);
        claimed = claimed(List.of(item(3, null)), List.of());

        Claim claim = claim();

        assertThat(claim.reclaimed()).containsExactlyElementsOf(expired.reclaimed());
        assertThat(claim.dead()).containsExactlyElementsOf(expired.dead());
        assertThat(claim.items()).containsExactlyElementsOf(claimed.items());
    }

    @Test
    void aRowThatCannotBeReadIsSettledAsDead() throws SQLException {
        WorkItem good = item(1, null);
        WorkItem bad = item(2, null);
        claimed = claimed(List.of(good), List.of(new Unreadable(bad, null, "no topic")));

        Claim claim = claim();

        assertThat(claim.items()).containsExactly(good);
        assertThat(claim.dead()).containsExactly(bad);
        assertThat(settled)
                .containsExactly(
                        Settlement.dead(new Lease(bad.id(), "token"), "row cannot be read: no topic", OnDead.SKIP));
    }

    @Test
    void aRowThatCannotBeReadAndBlocksTakesTheLaterItemsOfItsKeyAlong() throws SQLException {
        List<WorkItem> items = List.of(item(1, "k"), item(3, "k"), item(4, "other"));
        claimed = claimed(items, List.of(new Unreadable(item(2, "k"), "k", "no topic")));

        Claim claim = claiming.claim(NOBODY_ASKS, request().onDead(OnDead.BLOCK));

        assertThat(claim.items()).containsExactly(items.get(0), items.get(2));
    }

    private Claim claim() throws SQLException {
        return claiming.claim(NOBODY_ASKS, request());
    }

    private static ClaimRequest request() {
        return new ClaimRequest(10, LEASE, 10, Set.of(), "me");
    }

    private void pass(Duration step) {
        time.addAndGet(step.toNanos());
    }

    private static Expired expired(int count) {
        return new Expired(
                IntStream.range(0, count).mapToObj(i -> item(i, null)).toList(), List.of(), count == BATCH);
    }

    private static ClaimedRows claimed(List<WorkItem> items, List<Unreadable> unreadable) {
        return new ClaimedRows("token", Instant.EPOCH, items, unreadable, false);
    }

    private static WorkItem item(long sequence, String key) {
        Message message = Message.to("t").payload("");
        return new WorkItem("item-" + sequence, sequence, 1, Instant.EPOCH, key == null ? message : message.key(key));
    }
}
