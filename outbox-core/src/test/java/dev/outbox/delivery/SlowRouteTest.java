package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When a route is slow, and when it may be called then. */
class SlowRouteTest extends RouteScenario {
    @Test
    void theItemsOfOneCallLengthenThePauseOnce() {
        slowDown();
        pass(Route.SHORTEST_PAUSE);
        assertThat(permit().use()).isTrue();
        for (int i = 0; i < 10; i++) {
            outage("of a batch-" + i);
        }

        assertThat(route.pause()).isEqualTo(Route.SHORTEST_PAUSE.multipliedBy(2));
    }

    @Test
    void aPermitIsForOneCall() {
        slowDown();
        pass(Route.SHORTEST_PAUSE);
        Route.Permit permit = permit();

        assertThat(permit.use()).isTrue();
        assertThat(permit.use()).isFalse();
    }

    @Test
    void unrecognisedFailuresSlowItDownAfterAFewHundredInARow() {
        for (int i = 1; i < Route.MANY; i++) {
            assertThat(fail("item-" + i).slowedDown()).isFalse();
        }
        assertThat(route.pause()).isZero();

        Route.Standing last = fail("last");

        assertThat(last.slowedDown()).isTrue();
        assertThat(last.pause()).isEqualTo(Route.SHORTEST_PAUSE);
        assertThat(fail("one more").slowedDown()).as("told once").isFalse();
    }

    @Test
    void aSuccessInBetweenStartsTheCountAnew() {
        for (int i = 0; i < 10 * Route.MANY; i++) {
            fail("item-" + i);
            if (i % 100 == 0) {
                pass(Duration.ofMillis(1));
                route.succeeded(time.get());
            }
        }

        assertThat(route.isSlow()).isFalse();
    }

    @Test
    void aRecognisedOutageSlowsItDownAfterAHandful() {
        for (int i = 1; i < Route.ENOUGH; i++) {
            assertThat(outage("item-" + i).slowedDown()).isFalse();
        }
        assertThat(outage("item-1").slowedDown()).isTrue();
    }

    @Test
    void aSlowRouteAllowsOneCallAtATimeAfterAPauseThatDoublesToFiveSeconds() {
        slowDown();
        Duration expected = Route.SHORTEST_PAUSE;
        for (int call = 0; call < 8; call++) {
            assertThat(mayCall()).as("before the pause is over").isFalse();
            assertThat(route.untilCall(time.get())).isBetween(expected.toNanos() * 3 / 4 - 1, expected.toNanos());
            pass(expected);
            assertThat(mayCall()).isTrue();
            assertThat(mayCall()).as("while the call is under way").isFalse();
            outage("probe");
            expected = expected.multipliedBy(2);
            if (expected.compareTo(Route.LONGEST_PAUSE) > 0) {
                expected = Route.LONGEST_PAUSE;
            }
            assertThat(route.pause()).isEqualTo(expected);
        }
    }

    @Test
    void afterASuccessThePauseIsATenthOfTheTimeSinceThen() {
        route.succeeded(time.get());
        pass(Duration.ofMillis(1));
        slowDown();

        for (int call = 0; call < 100; call++) {
            pass(route.pause());
            assertThat(mayCall()).isTrue();
            Duration before = route.pause();
            outage("probe");

            Duration tenth = Duration.ofNanos(time.get() / 10);
            Duration longest = tenth.compareTo(Route.SHORTEST_PAUSE) < 0 ? Route.SHORTEST_PAUSE : tenth;
            assertThat(route.pause()).isGreaterThanOrEqualTo(before).isLessThanOrEqualTo(longest);
        }
        assertThat(route.pause()).isEqualTo(Route.LONGEST_PAUSE);
    }

    @Test
    void aRouteThatAcceptedSomethingLatelyMayHaveMetAStormOfBadMessages() {
        for (int i = 0; i < Route.MANY; i++) {
            fail("never a success-" + i);
        }
        assertThat(route.mayBeAStorm(time.get())).isFalse();
        pass(Duration.ofMillis(1));
        route.succeeded(time.get());
        pass(Duration.ofMillis(1));
        assertThat(route.mayBeAStorm(time.get())).as("at full speed").isFalse();
        for (int i = 0; i < Route.MANY; i++) {
            fail("after one-" + i);
        }

        assertThat(route.mayBeAStorm(time.get())).isTrue();
        assertThat(route.mayBeAStorm(time.get() + Route.QUIET.toNanos()))
                .as("it looks like an outage by then")
                .isFalse();
        for (int i = 0; i < Route.ENOUGH; i++) {
            outage("recognised-" + i);
        }
        assertThat(route.mayBeAStorm(time.get())).isFalse();
    }

    @Test
    void failuresOfCallsThatBeganBeforeItWasSlowDoNotProlongThePause() {
        long began = time.get();
        pass(Duration.ofSeconds(1));
        slowDown();

        route.failed(item("late", 1), true, false, began, time.get());

        assertThat(route.pause()).isEqualTo(Route.SHORTEST_PAUSE);
    }

    @Test
    void oneSuccessRestoresFullSpeedButNotOneThatBeganBefore() {
        long began = time.get();
        pass(Duration.ofSeconds(1));
        slowDown();

        assertThat(route.succeeded(began)).isFalse();
        assertThat(route.isSlow()).isTrue();
        assertThat(route.succeeded(time.get())).isTrue();
        assertThat(route.isSlow()).isFalse();
        assertThat(route.pause()).isZero();
        assertThat(route.succeeded(time.get())).as("told once").isFalse();
    }

    @Test
    void aPermitThatIsNeverUsedEndsAndOneThatIsGivenBackMakesRoomForTheNext() {
        slowDown();
        pass(Route.SHORTEST_PAUSE);
        Route.Permit forgotten = permit();
        pass(LONG_CALL);
        Route.Permit second = permit();
        assertThat(second).isNotNull();

        forgotten.giveBack();
        assertThat(mayCall()).as("it is the second's turn").isFalse();
        second.giveBack();
        assertThat(mayCall()).as("before the pause is over").isFalse();
        pass(Route.SHORTEST_PAUSE);
        assertThat(mayCall()).isTrue();
    }
}
