package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final BreakerPolicy policy = new BreakerPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(4));
    private final Breaker breaker = new Breaker(policy);

    private static List<Verdict> failure(String id) {
        WorkItem item = new WorkItem(id, 1, 1, Instant.EPOCH, Message.to("t").payload(""));
        Run run = new Run(List.of(item), new Claim("token", Instant.EPOCH, List.of(item), List.of(), false), 0);
        Settlement retry = Settlement.retry(new Lease(id, "token"), Duration.ZERO, "failed");
        return List.of(new Verdict(run, item, retry, Duration.ZERO));
    }

    private void open() {
        breaker.failed(failure("a"), 0);
        breaker.failed(failure("b"), 0);
        breaker.failed(failure("c"), 0);
    }

    @Test
    void verdictsAreHeldBackUntilAnotherItemSucceeds() {
        List<Verdict> bad = failure("bad");

        assertThat(breaker.failed(bad, 0).putOff()).isEmpty();
        Breaker.Recovery recovery = breaker.succeeded();

        assertThat(recovery.counted()).containsExactly(bad);
        assertThat(recovery.closed()).isFalse();
        assertThat(breaker.succeeded().counted()).isEmpty();
    }

    @Test
    void itOpensWhenEnoughDifferentItemsFailInARowAndPutsAllOfThemOff() {
        breaker.failed(failure("a"), 0);
        breaker.failed(failure("b"), 0);
        Breaker.Consequence third = breaker.failed(failure("c"), 0);

        assertThat(third.opened()).isTrue();
        assertThat(third.putOff()).extracting(group -> group.get(0).item().id()).containsExactly("a", "b", "c");
        assertThat(breaker.permits(0)).isFalse();
    }

    @Test
    void oneItemThatFailsAgainAndAgainDoesNotOpenIt() {
        for (int i = 0; i < 10; i++) {
            assertThat(breaker.failed(failure("bad"), 0).opened()).isFalse();
            assertThat(breaker.heldFor(Duration.ZERO)).hasSize(1);
        }
        assertThat(breaker.permits(0)).isTrue();
    }

    @Test
    void aSuccessInBetweenStartsTheCountAgain() {
        breaker.failed(failure("a"), 0);
        breaker.failed(failure("b"), 0);
        breaker.succeeded();

        assertThat(breaker.failed(failure("c"), 0).opened()).isFalse();
    }

    @Test
    void heldVerdictsComeOutByThemselvesAfterAWhile() {
        List<Verdict> bad = failure("bad");
        breaker.failed(bad, 0);

        assertThat(breaker.heldFor(Duration.ofHours(1))).isEmpty();
        assertThat(breaker.heldFor(Duration.ZERO)).containsExactly(bad);
        assertThat(breaker.heldFor(Duration.ZERO)).isEmpty();
    }

    @Test
    void afterThePauseOneDeliveryAtATimeMayProbe() {
        open();

        assertThat(breaker.permits(SECOND / 2)).isFalse();
        assertThat(breaker.permits(2 * SECOND)).isTrue();
        assertThat(breaker.permits(2 * SECOND)).isFalse();
        assertThat(breaker.isShut(2 * SECOND)).isTrue();
    }

    @Test
    void aFailedProbeDoublesThePauseUpToTheLongest() {
        open();
        long now = 0;
        for (long seconds : new long[] {2, 4, 4, 4}) {
            now += breaker.pauseLeft(now);
            assertThat(breaker.permits(now)).isTrue();
            assertThat(breaker.failed(failure("probe"), now).putOff()).hasSize(1);
            assertThat(breaker.pauseLeft(now)).isBetween(seconds * SECOND, seconds * SECOND * 5 / 4);
        }
    }

    @Test
    void aProbeThatSucceedsClosesIt() {
        open();
        breaker.permits(2 * SECOND);

        assertThat(breaker.succeeded().closed()).isTrue();
        assertThat(breaker.permits(2 * SECOND)).isTrue();
        assertThat(breaker.pauseLeft(2 * SECOND)).isZero();
    }

    @Test
    void aProbeThatWasInterruptedMakesRoomForAnother() {
        open();
        breaker.permits(2 * SECOND);
        breaker.abandoned();

        assertThat(breaker.permits(2 * SECOND)).isTrue();
    }

    @Test
    void policiesAreChecked() {
        assertThatThrownBy(() -> BreakerPolicy.standard().failures(0))
                .hasMessage("failures must be between 1 and 1000, was 0");
        assertThatThrownBy(() -> BreakerPolicy.standard().maxPause(Duration.ofMillis(1)))
                .hasMessage("maxPause must be between PT1S and PT24H, was PT0.001S");
    }
}
