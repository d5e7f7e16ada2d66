package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import dev.outbox.Inbox;
import dev.outbox.testkit.InboxContract;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxScenario;
import dev.outbox.testkit.InboxSettings;
import java.util.List;
import java.util.function.BiFunction;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

/** Shows that the contract can fail: mistakes that an inbox can make are caught by the tests named for them. */
class InboxContractMutantsIT {
    /** What is made of an honest inbox in the contract that runs inside this test. */
    private static BiFunction<Inbox, DataSource, Inbox> inboxUnderTest = BrokenInbox::new;

    /** The contract against that inbox; as a nested class it is not run by the build itself. */
    static final class MutantContract extends InboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new PostgresInboxFixture() {
                @Override
                public Inbox open(InboxSettings settings) {
                    return inboxUnderTest.apply(super.open(settings), dataSource());
                }
            };
        }
    }

    /**
     * @param mistake what it does wrong
     * @param inbox the inbox that does it
     * @param caughtBy the tests of the contract that must fail for it, each of them
     */
    record Mutant(String mistake, BiFunction<Inbox, DataSource, Inbox> inbox, List<String> caughtBy) {
        @Override
        public String toString() {
            return mistake;
        }
    }

    static List<Mutant> mutants() {
        return List.of(
                new Mutant(
                        "every arrival counts as the first",
                        BrokenInbox.EverythingIsFirst::new,
                        List.of(
                                "theFirstArrivalIsFirstAndEveryOtherIsADuplicate",
                                "aRepetitionInTheSameTransactionIsADuplicate",
                                "aDuplicateLeavesTheTransactionGood")),
                new Mutant(
                        "receive commits on its own",
                        BrokenInbox.ReceivesOnAConnectionOfItsOwn::new,
                        List.of(
                                "aRollbackTakesTheRecordAlong",
                                "whatTheEffectThrowsReachesTheCallerAndNothingIsLeft",
                                "aConnectionWithoutATransactionIsRefused")),
                new Mutant(
                        "receive does not look at the content",
                        BrokenInbox.NoHash::new,
                        List.of(
                                "everyAlteredPayloadIsAConflict",
                                "aConflictIsAnExceptionThatNamesTheMessageAndNotItsPayload",
                                "aGivenHashDecidesInsteadOfThePayload")),
                new Mutant(
                        "ids of different sources collide",
                        BrokenInbox.OneSource::new,
                        List.of("everyConsumerGetsAMessageOnceAndSourcesDoNotCollide")),
                new Mutant(
                        "enqueueAll stores in another order",
                        BrokenInbox.StoresBackwards::new,
                        List.of("itemsOfAKeyAreHandledInTheirOrder")),
                new Mutant(
                        "enqueueAll stops at a conflict",
                        BrokenInbox.StopsAtAConflict::new,
                        List.of("aConflictAmongSeveralIsThrownAfterTheOthersAreStoredAndTold")),
                new Mutant(
                        "markDead commits on its own",
                        BrokenInbox.GivesUpAtOnce::new,
                        List.of("markDeadIsUndoneByARollback")),
                new Mutant(
                        "requeue does not look at the age",
                        BrokenInbox.RequeuesAnyAge::new,
                        List.of("aDeadItemOlderThanTheRetentionIsRequeuedOnlyByForce")));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void theContractCatchesTheMistake(Mutant mutant) {
        Events tests = run(mutant.inbox(), mutant.caughtBy());

        assertThat(tests.failed().stream().map(InboxContractMutantsIT::testName))
                .as("tests that fail when %s", mutant.mistake())
                .containsExactlyInAnyOrderElementsOf(mutant.caughtBy());
    }

    @Test
    void theSameTestsPassWithoutTheMistake() {
        List<String> names =
                mutants().stream().flatMap(mutant -> mutant.caughtBy().stream()).toList();

        Events tests = run(BrokenInbox::new, names);

        assertThat(tests.succeeded().count()).isEqualTo(names.size());
    }

    private static Events run(BiFunction<Inbox, DataSource, Inbox> inbox, List<String> names) {
        inboxUnderTest = inbox;
        return EngineTestKit.engine("junit-jupiter")
                .selectors(names.stream()
                        .map(name -> selectMethod(MutantContract.class, name, InboxScenario.class))
                        .toArray(DiscoverySelector[]::new))
                .execute()
                .testEvents();
    }

    private static String testName(Event event) {
        String display = event.getTestDescriptor().getDisplayName();
        return display.substring(0, display.indexOf('('));
    }
}
