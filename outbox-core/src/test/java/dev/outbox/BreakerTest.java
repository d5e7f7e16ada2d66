package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private static final WorkItem PROBE = item("probe");

    private final BreakerPolicy policy = new BreakerPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(4));
    private final Breaker breaker = new Breaker("route", policy, Duration.ofMinutes(1));
    private final Poller poller = new Poller();

    /** What came back to a poller, by item. */
    private static final class Poller implements Breaker.Holder {
        private final List<String> counted = new ArrayList<>();
        private final List<String> putOff = new ArrayList<>();

        @Override
        public void count(List<Verdict> group) {
            counted.add(group.get(0).item().id());
        }

        @Override
        public void putOff(List<Verdict> group, Duration delay) {
            putOff.add(group.get(0).item().id());
        }
    }

    private static WorkItem item(String id) {
        return new WorkItem(id, 1, 1, Instant.EPOCH, Message.to("t").payload(""));
    }

    private boolean fail(Poller poller, String id, long now) {
        WorkItem item = item(id);
        Run run = new Run(List.of(item), new Claim("token", Instant.EPOCH, List.of(item), List.of(), false), 0);
        Settlement retry = Settlement.retry(new Lease(id, "token"), Duration.ZERO, "failed");
        return breaker.failed(poller, List.of(new Verdict(run, item, retry, Duration.ZERO)), now);
    }

    private boolean fail(String id, long now) {
        return fail(poller, id, now);
    }

    private void open() {
        fail("a", 0);
        fail("b", 0);
        fail("c", 0);
    }

    @Test
    void verdictsAreHeldBackUntilAnotherItemSucceeds() {
        fail("bad", 0);
        assertThat(poller.counted).isEmpty();

        assertThat(breaker.succeeded(2 * SECOND)).isFalse();
        assertThat(poller.counted).containsExactly("bad");
        breaker.succeeded(2 * SECOND);

        assertThat(poller.counted).containsExactly("bad");
        assertThat(poller.putOff).isEmpty();
    }

    @Test
    void itIsKnownWhenTheFirstVerdictWasHeldBackForLongEnough() {
        assertThat(breaker.untilOverdue()).isEqualTo(Long.MAX_VALUE);
        fail("bad", 0);
        assertThat(breaker.untilOverdue()).isLessThanOrEqualTo(SECOND);
        breaker.succeeded(2 * SECOND);

        assertThat(breaker.untilOverdue()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void itOpensWhenEnoughDifferentItemsFailInARowAndPutsAllOfThemOff() {
        assertThat(fail("a", 0)).isFalse();
        assertThat(fail("b", 0)).isFalse();
        assertThat(fail("c", 0)).isTrue();

        assertThat(poller.putOff).containsExactly("a", "b", "c");
        assertThat(poller.counted).isEmpty();
        assertThat(breaker.permits(PROBE, 0)).isFalse();
    }

    @Test
    void failuresOfSeveralPollersCountTogetherAndGoBackToWhoseTheyAre() {
        Poller other = new Poller();
        fail("a", 0);
        fail(other, "b", 0);
        assertThat(fail("c", 0)).isTrue();

        assertThat(poller.putOff).containsExactly("a", "c");
        assertThat(other.putOff).containsExactly("b");
    }

    @Test
    void anItemThatFailedElsewhereMeanwhileIsNotForgottenWhereItFailedFirst() {
        Poller other = new Poller();
        fail("a", 0);
        fail(other, "a", 0);

        assertThat(poller.counted).containsExactly("a");
        breaker.succeeded(2 * SECOND);
        assertThat(other.counted).containsExactly("a");
    }

    @Test
    void oneItemThatFailsAgainAndAgainDoesNotOpenIt() {
        for (int i = 1; i <= 10; i++) {
            assertThat(fail("bad", 0)).isFalse();
            breaker.leave(poller);
            assertThat(poller.counted).hasSize(i);
        }
        assertThat(breaker.permits(PROBE, 0)).isTrue();
    }

    @Test
    void aSuccessInBetweenStartsTheCountAgain() {
        fail("a", 0);
        fail("b", 0);
        breaker.succeeded(2 * SECOND);

        assertThat(fail("c", 0)).isFalse();
    }

    @Test
    void heldVerdictsOfAPollerThatLeavesAreCountedAtOnce() {
        Poller other = new Poller();
        fail("bad", 0);
        fail(other, "worse", 0);

        breaker.countOverdue();
        assertThat(poller.counted).isEmpty();
        breaker.leave(poller);
        breaker.leave(poller);

        assertThat(poller.counted).containsExactly("bad");
        assertThat(other.counted).isEmpty();
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
    void afterThePauseOnePollerClaimsAndTheOthersWaitForWhatItFinds() {
        Poller other = new Poller();
        assertThat(breaker.mayClaim(other, 0)).isTrue();
        open();
        assertThat(breaker.mayClaim(poller, 0)).isFalse();

        assertThat(breaker.mayClaim(poller, 2 * SECOND)).isTrue();
        assertThat(breaker.mayClaim(other, 2 * SECOND)).isFalse();
        assertThat(breaker.mayClaim(poller, 2 * SECOND)).isTrue();
        breaker.permits(PROBE, 2 * SECOND);
        assertThat(breaker.mayClaim(poller, 2 * SECOND)).isFalse();
        breaker.succeeded(2 * SECOND);
        assertThat(breaker.mayClaim(other, 2 * SECOND)).isTrue();
    }

    @Test
    void aPollerThatFindsNothingOrLeavesDoesNotKeepTheOthersFromProbing() {
        Poller other = new Poller();
        open();

        breaker.mayClaim(poller, 2 * SECOND);
        assertThat(breaker.mayClaim(other, 6 * SECOND)).isTrue();
        assertThat(breaker.mayClaim(poller, 6 * SECOND)).isFalse();
        breaker.leave(other);
        assertThat(breaker.mayClaim(poller, 6 * SECOND)).isTrue();
    }

    @Test
    void aFailedProbeDoublesThePauseUpToTheLongest() {
        open();
        long now = 0;
        for (long seconds : new long[] {2, 4, 4, 4}) {
            now += breaker.pauseLeft(now);
            assertThat(breaker.permits(PROBE, now)).isTrue();
            fail("probe", now);
            assertThat(breaker.pauseLeft(now)).isBetween(seconds * SECOND, seconds * SECOND * 5 / 4);
        }
        assertThat(poller.putOff).containsExactly("a", "b", "c", "probe", "probe", "probe", "probe");
    }

    @Test
    void aProbeThatSucceedsClosesIt() {
        open();
        breaker.permits(PROBE, 2 * SECOND);

        assertThat(breaker.succeeded(2 * SECOND)).isTrue();
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
    void aSuccessThatBeganBeforeAFailureSaysNothingAboutIt() {
        fail("a", SECOND);
        fail("b", 2 * SECOND);

        breaker.succeeded(SECOND);
        assertThat(poller.counted).containsExactly("a");
        fail("c", 2 * SECOND);
        assertThat(fail("d", 2 * SECOND)).isTrue();

        assertThat(breaker.succeeded(SECOND)).isFalse();
        assertThat(breaker.isOpen()).isTrue();
        assertThat(poller.putOff).containsExactly("b", "c", "d");
    }

    @Test
    void onlyTheProbeMovesThePauseOn() {
        open();
        breaker.permits(PROBE, 2 * SECOND);

        fail("late", 2 * SECOND);

        assertThat(poller.putOff).endsWith("late");
        assertThat(breaker.pauseLeft(2 * SECOND)).isZero();
        assertThat(breaker.isShut(2 * SECOND)).isTrue();
    }

    @Test
    void itemsThatFailAgainAfterAnOutageAreCountedAndDoNotOpenItAgain() {
        open();
        breaker.succeeded(2 * SECOND);

        for (String id : List.of("a", "b", "c")) {
            assertThat(fail(id, 0)).isFalse();
        }
        assertThat(poller.counted).containsExactly("a", "b", "c");
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
