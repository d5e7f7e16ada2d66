package dev.outbox.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkItem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SpiValuesTest {
    private static final Lease LEASE = new Lease("row-1", "token-1");
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void anErrorIsCutToWhatFits() {
        String longest = "x".repeat(2_000);

        assertThat(Settlement.dead(LEASE, longest + "y").error()).isEqualTo(longest);
        assertThat(Settlement.retry(LEASE, SECOND, longest + "y").error()).isEqualTo(longest);
        assertThat(Settlement.dead(LEASE, longest).error()).isEqualTo(longest);
        assertThat(Settlement.dead(LEASE, "").error()).isEmpty();
    }

    @Test
    void onlyAReleaseBeforeDeliveryAndARetryAfterGiveTheAttemptBack() {
        assertThat(Settlement.done(LEASE).attemptsGivenBack()).isZero();
        assertThat(Settlement.retry(LEASE, SECOND, "e").attemptsGivenBack()).isZero();
        assertThat(Settlement.dead(LEASE, "e").attemptsGivenBack()).isZero();
        assertThat(Settlement.release(LEASE, true).attemptsGivenBack()).isZero();
        assertThat(Settlement.release(LEASE, false).attemptsGivenBack()).isOne();
        assertThat(Settlement.retry(LEASE, SECOND, "e", 1).attemptsGivenBack()).isOne();
    }

    @Test
    void aSettlementSaysWhatBecomesOfTheItem() {
        assertThat(Settlement.done(LEASE))
                .isEqualTo(new Settlement(LEASE, Settlement.Kind.DONE, Duration.ZERO, null, 0, OnDead.SKIP));
        assertThat(Settlement.retry(LEASE, SECOND, "e"))
                .isEqualTo(new Settlement(LEASE, Settlement.Kind.RETRY, SECOND, "e", 0, OnDead.SKIP));
        assertThat(Settlement.retry(LEASE, SECOND, "e", 1).kind()).isEqualTo(Settlement.Kind.RETRY);
        assertThat(Settlement.dead(LEASE, "e").kind()).isEqualTo(Settlement.Kind.DEAD);
        assertThat(Settlement.release(LEASE, false).kind()).isEqualTo(Settlement.Kind.RELEASE);
        assertThat(Settlement.release(LEASE, false).error()).isNull();
    }

    @Test
    void aSettlementThatIsReadyAgainOrBlocksHoldsBackItsKey() {
        assertThat(Settlement.done(LEASE).holdsBackItsKey()).isFalse();
        assertThat(Settlement.dead(LEASE, "e").holdsBackItsKey()).isFalse();
        assertThat(Settlement.dead(LEASE, "e", OnDead.BLOCK).holdsBackItsKey()).isTrue();
        assertThat(Settlement.retry(LEASE, SECOND, "e").holdsBackItsKey()).isTrue();
        assertThat(Settlement.release(LEASE, true).holdsBackItsKey()).isTrue();
    }

    @Test
    void aSettlementIsChecked() {
        assertThatThrownBy(() -> Settlement.done(null)).hasMessage("lease must not be null");
        assertThatThrownBy(() -> new Settlement(LEASE, null, SECOND, null, 0, OnDead.SKIP))
                .hasMessage("kind must not be null");
        assertThatThrownBy(() -> Settlement.retry(LEASE, Duration.ofSeconds(-1), "e"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("delay must be between PT0S");
        assertThatThrownBy(() -> new Lease(null, "t")).hasMessage("itemId must not be null");
        assertThatThrownBy(() -> new Lease("i", null)).hasMessage("ownerToken must not be null");
    }

    @Test
    void aClaimCopiesItsItemsAndLeasesThemUnderItsToken() {
        WorkItem item =
                new WorkItem("row-1", 1, 1, Instant.EPOCH, Message.to("t").payload(""));
        List<WorkItem> items = new ArrayList<>(List.of(item));
        Claim claim = new Claim("token-1", Instant.EPOCH, items, List.of(), false);

        items.clear();

        assertThat(claim.items()).containsExactly(item);
        assertThat(claim.lease(item)).isEqualTo(LEASE);
    }

    @Test
    void aClaimRequestIsChecked() {
        Set<String> topics = new HashSet<>(Set.of("a"));
        ClaimRequest request = new ClaimRequest(100, SECOND, 10, topics, "poller-1");
        topics.add("b");

        assertThat(request.topics()).containsExactly("a");
        assertThat(request.count(7)).isEqualTo(new ClaimRequest(7, SECOND, 10, Set.of("a"), "poller-1"));
        assertThatThrownBy(() -> request.count(0)).hasMessage("count must be between 1 and 10000, was 0");
        assertThatThrownBy(() -> new ClaimRequest(1, Duration.ofMillis(9), 1, Set.of(), "p"))
                .hasMessage("lease must be between PT0.01S and PT24H, was PT0.009S");
        assertThatThrownBy(() -> new ClaimRequest(1, SECOND, 0, Set.of(), "p"))
                .hasMessage("maxAttempts must be between 1 and 1000000, was 0");
        assertThatThrownBy(() -> new ClaimRequest(1, SECOND, 1, Set.of(), " ")).hasMessage("owner must not be blank");
    }
}
