package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;

/** The contract of a destination passes for a good one, and catches every mistake by the tests named for it. */
class DestinationContractTest extends DestinationContract {
    private static Supplier<DestinationFixture> underTest = MemoryBroker::new;

    @Override
    protected DestinationFixture openFixture() {
        return new MemoryBroker();
    }

    /** The contract against a mutant; as a nested class it is not run by the build itself. */
    static final class MutantContract extends DestinationContract {
        @Override
        protected DestinationFixture openFixture() {
            return underTest.get();
        }
    }

    record Mistake(String name, Supplier<DestinationFixture> fixture, List<String> caughtBy) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Mistake> mistakes() {
        return List.of(
                new Mistake(
                        "an outage is answered as delivered",
                        () -> new MemoryBroker() {
                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                return down
                                        ? items.stream()
                                                .map(item -> Outcome.done())
                                                .toList()
                                        : super.deliver(items);
                            }
                        },
                        List.of("nothingIsAnsweredDoneWhileTheBrokerIsDown", "everythingArrivesAfterAnOutage")),
                new Mistake(
                        "an outage is the end of an item",
                        () -> new MemoryBroker() {
                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                return down
                                        ? items.stream()
                                                .map(item -> Outcome.dead(new IllegalStateException("down")))
                                                .toList()
                                        : super.deliver(items);
                            }
                        },
                        List.of("nothingIsAnsweredDoneWhileTheBrokerIsDown", "everythingArrivesAfterAnOutage")),
                new Mistake(
                        "one is refused, and all are answered as delivered",
                        () -> new MemoryBroker() {
                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                return super.deliver(items).stream()
                                        .map(outcome -> Outcome.done())
                                        .toList();
                            }
                        },
                        List.of("whatIsRefusedIsNotAnsweredDoneAndWhatIsAnsweredDoneHasArrived")),
                new Mistake(
                        "an outcome is missing",
                        () -> new MemoryBroker() {
                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                List<Outcome> outcomes = super.deliver(items);
                                return outcomes.size() < 3 ? outcomes : outcomes.subList(1, outcomes.size());
                            }
                        },
                        List.of("everyItemOfACallHasAnOutcome")),
                new Mistake(
                        "the last item of a call is not sent",
                        () -> new MemoryBroker() {
                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                super.deliver(items.subList(0, items.size() - 1));
                                return items.stream()
                                        .map(item -> Outcome.done())
                                        .toList();
                            }
                        },
                        List.of(
                                "whatIsAnsweredDoneHasArrived",
                                "itemsOfAKeyArriveInTheirOrder",
                                "nothingIsLostWhenASettleFails")),
                new Mistake(
                        "items are sent by a buffer that turns them round",
                        () -> new MemoryBroker() {
                            private final Map<String, WorkItem> kept = new HashMap<>();

                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                List<WorkItem> sent = new ArrayList<>();
                                for (WorkItem item : items) {
                                    WorkItem before = kept.remove(item.key());
                                    if (before == null) {
                                        kept.put(item.key(), item);
                                    } else {
                                        sent.addAll(List.of(item, before));
                                    }
                                }
                                super.deliver(sent);
                                return items.stream()
                                        .map(item -> Outcome.done())
                                        .toList();
                            }
                        },
                        List.of("itemsOfAKeyArriveInTheirOrder", "whatIsAnsweredDoneHasArrived")),
                new Mistake(
                        "what comes again is taken for sent",
                        () -> new MemoryBroker() {
                            private final List<String> begun = new ArrayList<>();

                            @Override
                            public List<Outcome> deliver(List<WorkItem> items) throws Exception {
                                List<WorkItem> fresh = items.stream()
                                        .filter(item -> !begun.contains(item.messageId()))
                                        .toList();
                                fresh.forEach(item -> begun.add(item.messageId()));
                                super.deliver(fresh);
                                return items.stream()
                                        .map(item -> Outcome.done())
                                        .toList();
                            }
                        },
                        List.of("everythingArrivesAfterAnOutage")),
                new Mistake(
                        "it can be closed only once",
                        () -> new MemoryBroker() {
                            @Override
                            public void closeDestination() {
                                if (closed) {
                                    throw new IllegalStateException("closed already");
                                }
                                super.closeDestination();
                            }
                        },
                        List.of("closingTwiceIsHarmless")));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void theContractCatchesTheMistake(Mistake mistake) {
        underTest = mistake.fixture();

        List<String> failed = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(MutantContract.class))
                .execute()
                .testEvents()
                .failed()
                .stream()
                .map(event -> event.getTestDescriptor().getDisplayName())
                .map(name -> name.substring(0, name.indexOf('(')))
                .toList();

        assertThat(failed).containsAll(mistake.caughtBy());
    }
}
