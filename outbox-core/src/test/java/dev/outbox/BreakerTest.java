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

    private static final WorkItem PROBE =
            new WorkItem("probe", 1, 1, Instant.EPOCH, Message.to("t").payload(""));

    private final BreakerPolicy policy = new BreakerPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(4));
    private final Breaker breaker = new Breaker(policy, Duration.ofMinutes(1));

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
        assertThat(breaker.permits(PROBE, 0)).isFalse();
    }

    @Test
    void oneItemThatFailsAgainAndAgainDoesNotOpenIt() {
        for (int i = 0; i < 10; i++) {
            assertThat(breaker.failed(failure("bad"), 0).opened()).isFalse();
            assertThat(breaker.overdue(true)).hasSize(1);
        }
        assertThat(breaker.permits(PROBE, 0)).isTrue();
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

        assertThat(breaker.overdue(false)).isEmpty();
        assertThat(breaker.overdue(true)).containsExactly(bad);
        assertThat(breaker.overdue(true)).isEmpty();
    }

    @Test
    void afterThePauseOneDeliveryAtATimeMayProbe() {
        open();

        assertThat(breaker.permits(PROBE, SECOND / 2)).isFalse();
        assertThat(breaker.permits(PROBE, 2 * SECOND)).isTrue();
        assertThat(breaker.permits(PROBE, 2 * SECOND)).isFalse();
        assertThat(breaker.isShut(2 * SECOND)).isTrue();
    }

    @Test
    void aFailedProbeDoublesThePauseUpToTheLongest() {
        open();
        long now = 0;
        for (long seconds : new long[] {2, 4, 4, 4}) {
            now += breaker.pauseLeft(now);
            assertThat(breaker.permits(PROBE, now)).isTrue();
            assertThat(breaker.failed(failure("probe"), now).putOff()).hasSize(1);
            assertThat(breaker.pauseLeft(now)).isBetween(seconds * SECOND, seconds * SECOND * 5 / 4);
        }
    }

    @Test
    void aProbeThatSucceedsClosesIt() {
        open();
        breaker.permits(PROBE, 2 * SECOND);

        assertThat(breaker.succeeded().closed()).isTrue();
        assertThat(breaker.permits(PROBE, 2 * SECOND)).isTrue();
        assertThat(breaker.pauseLeft(2 * SECOND)).isZero();
    }

    @Test
    void aProbeThatToldNothingIsFollowedByAnotherAfterAPause() {
        open();
        breaker.permits(PROBE, 2 * SECOND);
        breaker.abandoned(PROBE, 2 * SECOND);

        assertThat(breaker.permits(PROBE, 2 * SECOND)).isFalse();
        assertThat(breaker.permits(PROBE, 4 * SECOND)).isTrue();
    }

    @Test
    void aProbeThatNeverReturnsDoesNotKeepItShutForEver() {
        open();
        breaker.permits(PROBE, 2 * SECOND);

        assertThat(breaker.isShut(61 * SECOND)).isTrue();
        assertThat(breaker.isShut(62 * SECOND)).isFalse();
        assertThat(breaker.permits(PROBE, 62 * SECOND)).isTrue();
    }

    @Test
    void onlyTheProbeMovesThePauseOn() {
        open();
        breaker.permits(PROBE, 2 * SECOND);

        assertThat(breaker.failed(failure("late"), 2 * SECOND).putOff()).hasSize(1);

        assertThat(breaker.pauseLeft(2 * SECOND)).isZero();
        assertThat(breaker.isShut(2 * SECOND)).isTrue();
    }

    @Test
    void itemsThatFailAgainAfterAnOutageAreCountedAndDoNotOpenItAgain() {
        open();
        breaker.succeeded();

        for (String id : List.of("a", "b", "c")) {
            Breaker.Consequence again = breaker.failed(failure(id), 0);
            assertThat(again.counted()).hasSize(1);
            assertThat(again.opened()).isFalse();
        }
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void policiesAreChecked() {
        assertThatThrownBy(() -> BreakerPolicy.standard().failures(0))
                .hasMessage("failures must be between 1 and 1000, was 0");
        assertThatThrownBy(() -> BreakerPolicy.standard().maxPause(Duration.ofMillis(1)))
                .hasMessage("maxPause must be between PT1S and PT24H, was PT0.001S");
    }
}
