package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import dev.outbox.spi.Source;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

/** Shows that the contract can fail: every mistake a source can make is caught by the tests named for it. */
class SourceContractMutantsTest {
    /** The source under test of the contract that runs inside this test. */
    private static Function<InMemoryStore, Source> sourceUnderTest = InMemoryStore::source;

    /** The contract against that source; as a nested class it is not run by the build itself. */
    static final class MutantContract extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new InMemoryFixture() {
                @Override
                public Source newSource() {
                    return sourceUnderTest.apply(store);
                }
            };
        }
    }

    static List<Mutant> mutants() {
        return Mutant.all();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void theContractCatchesTheMistake(Mutant mutant) {
        Events tests = run(mutant.source(), mutant.caughtBy());

        assertThat(tests.failed().stream().map(SourceContractMutantsTest::testName))
                .as("tests that fail when %s", mutant.mistake())
                .containsExactlyInAnyOrderElementsOf(mutant.caughtBy());
    }

    @Test
    void theSameTestsPassWithoutTheMistake() {
        List<String> names = Mutant.all().stream()
                .flatMap(mutant -> mutant.caughtBy().stream())
                .distinct()
                .toList();

        Events tests = run(BrokenSource::new, names);

        assertThat(tests.succeeded().count()).isEqualTo(names.size());
    }

    private static Events run(Function<InMemoryStore, Source> source, List<String> names) {
        sourceUnderTest = source;
        return EngineTestKit.engine("junit-jupiter")
                .selectors(names.stream()
                        .map(name -> selectMethod(MutantContract.class, name, SourceScenario.class))
                        .toArray(DiscoverySelector[]::new))
                .execute()
                .testEvents();
    }

    private static String testName(Event event) {
        String display = event.getTestDescriptor().getDisplayName();
        return display.substring(0, display.indexOf('('));
    }
}
