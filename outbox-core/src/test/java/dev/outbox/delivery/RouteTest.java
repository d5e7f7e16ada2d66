package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.WorkItem;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a route remembers of failures, and whom it blames. */
class RouteTest extends RouteScenario {
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
