package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class RouteTest {
    private static final Duration LONG_CALL = Duration.ofMinutes(5);

    private final AtomicLong time = new AtomicLong();
    private final LongSupplier ticker = time::get;
    private final Route route = Route.of(new Object(), new Object(), ticker);

    private static WorkItem item(String id, int attempt) {
        return new WorkItem(id, 1, attempt, Instant.EPOCH, Message.to("t").payload(""));
    }

    private void pass(Duration length) {
        time.addAndGet(length.toNanos());
    }

    private Route.Standing fail(String id) {
        return route.failed(item(id, 1), false, false, time.get(), time.get());
    }

    private Route.Standing outage(String id) {
        return route.failed(item(id, 1), true, false, time.get(), time.get());
    }

    private Route.Permit permit() {
        return route.permit(time.get(), LONG_CALL);
    }

    private boolean mayCall() {
        return permit() != null;
    }

    private void slowDown() {
        for (int i = 0; i < Route.ENOUGH; i++) {
            outage("slow-" + i);
        }
        assertThat(route.isSlow()).isTrue();
    }

    @Test
    void pollersWithTheSameDestinationShareARouteAndOthersDoNot() {
        Object queue = new Object();
        String destination = "equal";

        Route shared = Route.of(queue, destination, ticker);

        assertThat(Route.of(queue, new String(destination), ticker)).isSameAs(shared);
        assertThat(Route.of(queue, "another", ticker)).isNotSameAs(shared);
        assertThat(Route.of(new Object(), destination, ticker))
                .as("of another outbox")
                .isNotSameAs(shared);
    }

    @Test
    void itAcceptsNothingOnceFiveDifferentItemsHaveFailedSinceTheLastSuccess() {
        for (int i = 0; i < 100; i++) {
            assertThat(fail("same").kills()).isTrue();
        }
        for (String id : new String[] {"b", "c", "d"}) {
            assertThat(fail(id).kills()).isTrue();
        }
        assertThat(fail("e").kills()).isFalse();
        assertThat(fail("same").kills()).isFalse();

        pass(Duration.ofMillis(1));
        route.succeeded(time.get());

        assertThat(fail("f").kills()).isTrue();
    }

    @Test
    void itemsThatFailWhileOthersAreAcceptedSayNothingAboutTheRoute() {
        for (int i = 0; i < 200; i++) {
            fail("bad-" + i);
        }
        pass(Duration.ofMillis(1));
        route.succeeded(time.get());

        for (int i = 0; i < 2 * Route.MANY; i++) {
            assertThat(fail("bad-" + i % 200)).isEqualTo(Route.Standing.HEALTHY);
        }
        route.failedBesideSuccess(item("in a batch", 1));
        assertThat(fail("in a batch")).isEqualTo(Route.Standing.HEALTHY);
        for (int i = 0; i < Route.ENOUGH; i++) {
            fail("fresh-" + i);
        }
        assertThat(fail("bad-0").kills()).as("in an outage they are spared too").isFalse();
    }

    @Test
    void afterTenSecondsWithoutASuccessTheyCountLikeAllOthers() {
        for (int i = 0; i < 200; i++) {
            fail("bad-" + i);
        }
        pass(Duration.ofMillis(1));
        route.succeeded(time.get());
        pass(Route.QUIET);

        for (int i = 0; i < Route.ENOUGH; i++) {
            fail("bad-" + i);
        }

        assertThat(fail("bad-0").kills()).isFalse();
    }

    @Test
    void sinceTheLastSuccessFewerThanFiveItemsDie() {
        for (int i = 0; i < 100; i++) {
            fail("bad-" + i);
        }
        pass(Duration.ofMillis(1));
        route.succeeded(time.get());

        int dead = 0;
        for (int i = 0; i < 100; i++) {
            WorkItem last = item("bad-" + i, 10);
            dead += route.failed(last, false, true, time.get(), time.get()).kills() ? 1 : 0;
        }

        assertThat(dead).isEqualTo(Route.ENOUGH - 1);
        route.succeeded(time.get());
        assertThat(route.failed(item("bad-99", 10), false, true, time.get(), time.get())
                        .kills())
                .isTrue();
    }

    @Test
    void callsThatBeganInAnOutageAndEndAfterItKillNothing() {
        for (int i = 0; i < Route.ENOUGH; i++) {
            fail("item-" + i);
        }
        long began = time.get();
        pass(Duration.ofMillis(1));
        route.succeeded(time.get());
        pass(Duration.ofMillis(1));

        assertThat(route.failed(item("late", 10), false, true, began, time.get())
                        .kills())
                .isFalse();
        assertThat(route.failed(item("new", 10), false, true, time.get(), time.get())
                        .kills())
                .isTrue();
    }

    @Test
    void onlyCallsThatBeganBeforeASuccessAreForgotten() {
        for (int i = 0; i < Route.ENOUGH; i++) {
            route.failed(item("long-" + i, 1), false, false, time.get(), time.get() + 1_000);
        }
        pass(Duration.ofNanos(10));

        route.succeeded(time.get());

        assertThat(fail("one more").kills())
                .as("it began after them, although they ended later")
                .isTrue();
    }

    @Test
    void whileItAcceptsNothingDelaysAreShort() {
        for (int i = 0; i < Route.ENOUGH; i++) {
            fail("item-" + i);
        }

        assertThat(fail("item-0").pause()).isEqualTo(Route.LONGEST_PAUSE);
    }

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
    void aSuccessSaysNothingAboutFailuresFromAfterItsCallBegan() {
        long began = time.get();
        pass(Duration.ofMillis(1));
        for (int i = 0; i < Route.ENOUGH; i++) {
            fail("item-" + i);
        }

        route.succeeded(began);

        assertThat(fail("item-0").kills()).isFalse();
    }

    @Test
    void inItsFirstMinutesItDoesNotBlameItemsThatFailedElsewhereBefore() {
        Route fresh = Route.of(new Object(), new Object(), ticker);
        WorkItem failedElsewhere = item("old", 10);

        assertThat(fresh.failed(failedElsewhere, false, false, 0, 0).kills()).isFalse();
        assertThat(fresh.failed(item("own", 1), false, false, 0, 0).kills()).isTrue();
        assertThat(fresh.failed(item("own", 2), false, false, 0, 0).kills()).isTrue();

        long later = Route.FIRST_MINUTES.toNanos();
        assertThat(fresh.failed(failedElsewhere, false, false, later, later).kills())
                .isTrue();
    }

    @Test
    void aSuccessEndsTheFirstMinutes() {
        route.succeeded(time.get());

        assertThat(route.failed(item("old", 10), false, false, time.get(), time.get())
                        .kills())
                .isTrue();
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

    @Test
    void aBatchThatFailedIsHalvedAndOneThatWasAnsweredDoubles() {
        assertThat(route.batchLimit()).isEqualTo(Integer.MAX_VALUE);
        route.batchFailed(500);
        assertThat(route.batchLimit()).isEqualTo(250);
        route.batchAnswered(100);
        assertThat(route.batchLimit()).as("it says nothing about larger ones").isEqualTo(250);
        route.batchAnswered(250);
        assertThat(route.batchLimit()).isEqualTo(500);
        route.batchFailed(1);
        assertThat(route.batchLimit()).isEqualTo(1);
    }

    @Test
    void anItemIsExcusedOnceAndMemoryIsBounded() {
        assertThat(route.excuses(item("a", 1))).isTrue();
        assertThat(route.excuses(item("a", 2))).isFalse();
        for (int i = 0; i < 5_000; i++) {
            route.excuses(item("other-" + i, 1));
        }
        assertThat(route.excuses(item("a", 3))).as("forgotten").isTrue();
    }
}
