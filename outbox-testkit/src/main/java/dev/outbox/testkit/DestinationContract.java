package dev.outbox.testkit;

import static dev.outbox.testkit.DestinationScenario.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.delivery.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The specification of a destination for a broker as a test class: it returns an outcome per item, reports no item as
 * delivered that did not arrive, keeps the order of a key, loses no item when something breaks, and can be closed twice.
 * Extend it and open a fixture over your adapter:
 *
 * <pre>{@code
 * class MyDestinationIT extends DestinationContract {
 *   @Override
 *   protected DestinationFixture openFixture() {
 *     return new MyDestinationFixture();
 *   }
 * }
 * }</pre>
 *
 * <p>Your own tests in the subclass may take a {@link DestinationScenario} as a parameter too; each test has a fixture of
 * its own.
 */
@ExtendWith(DestinationScenarioResolver.class)
public abstract class DestinationContract {
    /** A fixture over a broker that has received nothing; opened before each test, closed after it. */
    protected abstract DestinationFixture openFixture() throws Exception;

    @Test
    void everyItemOfACallHasAnOutcome(DestinationScenario scenario) throws Exception {
        List<Outcome> outcomes = scenario.deliver(item("m-1", 1), item("m-2", 2), item("m-3", 3));

        assertThat(outcomes).hasSize(3).doesNotContainNull();
    }

    @Test
    void whatIsAnsweredDoneHasArrived(DestinationScenario scenario) throws Exception {
        List<Outcome> outcomes = scenario.deliver(item("m-1", 1), item("m-2", 2), item("m-3", 3));

        assertThat(outcomes).allMatch(Outcome.Done.class::isInstance);
        assertThat(scenario.fixture().arrived()).containsExactlyInAnyOrder("m-1", "m-2", "m-3");
    }

    @Test
    void nothingIsAnsweredDoneWhileTheBrokerIsDown(DestinationScenario scenario) throws Exception {
        scenario.fixture().breakDown();
        List<Outcome> outcomes = new ArrayList<>();
        try {
            outcomes.addAll(scenario.deliver(item("m-1", 1), item("m-2", 2)));
        } catch (Exception e) {
            outcomes.add(Outcome.retry(e)); // all of them, as the poller sees it
        }

        assertThat(outcomes)
                .as("outcomes while the broker is down; an outage is no reason to give an item up")
                .isNotEmpty()
                .allMatch(Outcome.Retry.class::isInstance);
    }

    @Test
    void whatIsRefusedIsNotAnsweredDoneAndWhatIsAnsweredDoneHasArrived(DestinationScenario scenario) throws Exception {
        assumeTrue(scenario.fixture().refuse("m-2"), "SKIPPED: this broker cannot be made to refuse one message");
        List<String> ids = List.of("m-1", "m-2", "m-3");
        List<Outcome> outcomes = new ArrayList<>();
        try {
            outcomes.addAll(scenario.deliver(item("m-1", 1), item("m-2", 2), item("m-3", 3)));
        } catch (Exception e) {
            ids.forEach(id -> outcomes.add(Outcome.retry(e))); // as the poller sees it
        }

        assertThat(outcomes).hasSameSizeAs(ids);
        assertThat(outcomes.get(1)).as("outcome of what was refused").isNotInstanceOf(Outcome.Done.class);
        for (int i = 0; i < ids.size(); i++) {
            if (outcomes.get(i) instanceof Outcome.Done) {
                assertThat(scenario.fixture().arrived()).contains(ids.get(i));
            }
        }
    }

    @Test
    void everythingArrivesAfterAnOutage(DestinationScenario scenario) throws Exception {
        List<String> ids = scenario.enqueue(3, "a", "b");
        scenario.fixture().breakDown();
        scenario.poll();
        scenario.fixture().repair();

        scenario.pollUntilFinished();

        assertArrived(scenario, ids);
    }

    @Test
    void itemsOfAKeyArriveInTheirOrder(DestinationScenario scenario) throws Exception {
        List<String> ids = scenario.enqueue(20, "a", "b", "c");

        scenario.pollUntilFinished();

        assertArrived(scenario, ids);
    }

    @Test
    void nothingIsLostWhenThePollerDiesBetweenDeliverAndSettle(DestinationScenario scenario) throws Exception {
        assertNothingIsLost(scenario, CrashPoint.BEFORE_SETTLE);
    }

    @Test
    void nothingIsLostWhenASettleFails(DestinationScenario scenario) throws Exception {
        assertNothingIsLost(scenario, CrashPoint.SETTLE_FAILS);
    }

    @Test
    void nothingIsLostWhenTheAnswerToASettleIs(DestinationScenario scenario) throws Exception {
        assertNothingIsLost(scenario, CrashPoint.SETTLE_UNANSWERED);
    }

    @Test
    void nothingIsLostWhenTheLeaseIsLostInTheMiddle(DestinationScenario scenario) throws Exception {
        assertNothingIsLost(scenario, CrashPoint.LEASE_LOST);
    }

    private static void assertNothingIsLost(DestinationScenario scenario, CrashPoint point) throws Exception {
        List<String> ids = scenario.enqueue(4, "a", "b");

        scenario.pollUntilItBreaks(point);
        scenario.pollUntilFinished();

        assertArrived(scenario, ids);
    }

    /** Each message arrived at least once, and the first arrivals of each key are in its order. */
    private static void assertArrived(DestinationScenario scenario, List<String> ids) throws Exception {
        List<String> first = List.copyOf(new LinkedHashSet<>(scenario.fixture().arrived()));
        assertThat(first).containsExactlyInAnyOrderElementsOf(ids);
        for (String key : List.of("a-", "b-", "c-")) {
            assertThat(first.stream().filter(id -> id.startsWith(key)))
                    .as("first arrivals of a key")
                    .containsExactlyElementsOf(
                            ids.stream().filter(id -> id.startsWith(key)).toList());
        }
    }

    @Test
    void closingTwiceIsHarmless(DestinationScenario scenario) throws Exception {
        scenario.deliver(item("m-1", 1));

        scenario.fixture().closeDestination();
        scenario.fixture().closeDestination();

        assertThat(scenario.fixture().arrived()).containsExactly("m-1");
    }
}
