package dev.outbox.testkit;

import dev.outbox.spi.Source;
import java.util.List;
import java.util.function.Function;

/**
 * One mistake a source can make.
 *
 * @param mistake what it does wrong
 * @param source the source that does it
 * @param caughtBy the tests of the contract that must fail for it, each of them
 */
record Mutant(String mistake, Function<InMemoryStore, Source> source, List<String> caughtBy) {
    private static final String RANDOM = "aRandomHistoryKeepsEveryPromise";

    private static Mutant mutant(String mistake, Function<InMemoryStore, Source> source, String... caughtBy) {
        return new Mutant(mistake, source, List.of(caughtBy));
    }

    @Override
    public String toString() {
        return mistake;
    }

    static List<Mutant> all() {
        return List.of(
                mutant(
                        "settle does not look at the token",
                        BrokenSettles.SettleUnderAnyToken::new,
                        "aSettleUnderAWrongTokenIsFencedAndChangesNothing",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        "aFencedSettleGivesNothingBack",
                        RANDOM),
                mutant(
                        "settle does not say what was fenced",
                        BrokenSettles.SilentSettle::new,
                        "theSecondSettleOfALeaseIsFenced",
                        "aSettleOfAnItemThatDoesNotExistIsFenced",
                        "oneSettleTakesAnyMixOfOutcomesAndTokens",
                        RANDOM),
                mutant(
                        "the owner token is the worker's name",
                        BrokenClaims.OneTokenForEver::new,
                        "everyClaimDrawsAFreshOwnerToken",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        RANDOM),
                mutant(
                        "the attempt is not counted",
                        BrokenClaims.UncountedAttempts::new,
                        "claimedItemsAreProcessingAndTheirAttemptIsCounted",
                        "anItemThatKillsItsWorkersEndsDeadAfterItsLastAttempt",
                        RANDOM),
                mutant(
                        "a claim does not know the last attempt",
                        BrokenClaims.EndlessAttempts::new,
                        "anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported",
                        "aHeadThatKilledItsWorkersIsSkipped",
                        RANDOM),
                mutant(
                        "a claim does not report the dead",
                        BrokenClaims.UnreportedDead::new,
                        "anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported",
                        RANDOM),
                mutant(
                        "expired leases are never found",
                        BrokenClaims.LeasesForEver::new,
                        "anItemWhoseLeaseRanOutIsClaimableByAnotherSource",
                        "aRunWhoseLeaseRanOutIsClaimedAgainFromItsHead",
                        "anExpiredItemIsFoundAmongItsTopics",
                        RANDOM),
                mutant(
                        "leased items are claimed again",
                        BrokenClaims.NoLeases::new,
                        "claimedItemsAreNotClaimableBySomebodyElseNorAgain",
                        "anItemIsNotClaimableBeforeItsLeaseRunsOut",
                        "noItemIsLeasedTwiceByNodesThatClaimAtTheSameMoment",
                        RANDOM),
                mutant(
                        "the due time is ignored",
                        BrokenClaims.DueIgnored::new,
                        "aDelayedItemIsClaimableOnceItIsDue",
                        "aRetriedItemIsClaimableOnlyAfterItsDelay",
                        "aHeadWithAFutureDueDelaysItsKey",
                        RANDOM),
                mutant(
                        "a low-water mark goes past heads that are backing off",
                        BrokenKeys.MarkOnKeys::new,
                        "aHeadThatIsBackingOffHoldsBackItsKeyOnly",
                        "itemsEnqueuedBehindABackingOffHeadDoNotOvertakeIt",
                        "aRunEndsBeforeAnItemThatIsNotDue",
                        RANDOM),
                mutant(
                        "the leases of a key are ignored if its head is ready",
                        BrokenKeys.HeadIsEnough::new,
                        "aRequeuedItemWaitsForTheLeasedItemsOfItsKey"),
                mutant(
                        "only rows that are not in flight make the head",
                        BrokenKeys.InFlightIgnored::new,
                        "aLeasedKeyIsHeldBackWhileOtherKeysFlow",
                        "aSettledPrefixKeepsTheRestOfTheRunLeased",
                        "keysStayInOrderWhenManyNodesDeliver",
                        RANDOM),
                mutant("keys ignore case", BrokenKeys.KeysIgnoreCase::new, "keysCompareExactly"),
                mutant(
                        "a block is forgotten",
                        BrokenSettles.BlocksForgotten::new,
                        "aBlockedKeyIsNotClaimedAndOthersAre",
                        "aDeadItemThatBlocksGivesTheRestOfItsRunBack",
                        "whatWaitsBehindABlockIsNotDue"),
                mutant(
                        "an expired item never blocks",
                        BrokenClaims.ExpiredNeverBlock::new,
                        "anItemWhoseLastLeaseRanOutBlocksIfTheClaimSaysSo"),
                mutant("a dead head blocks its key", BrokenKeys.DeadHeadsBlock::new, "aDeadHeadIsSkipped", RANDOM),
                mutant(
                        "a retry keeps the rest of the run",
                        BrokenSettles.RunsAreKept::new,
                        "aRetryInTheMiddleOfARunGivesBackEveryLaterItem",
                        "afterARetryTheKeyGoesOnAtTheRetriedItem",
                        "aReleaseOfTheHeadGivesBackTheRun",
                        RANDOM),
                mutant(
                        "a release never gives the attempt back",
                        BrokenSettles.ReleasesCount::new,
                        "aReleaseBeforeDeliveryGivesTheAttemptBack",
                        "itemsOfARunThatAreReleasedTogetherAreGivenBackOnce",
                        RANDOM),
                mutant(
                        "a release always gives the attempt back",
                        BrokenSettles.ReleasesNeverCount::new,
                        "aReleaseAfterDeliveryBeganKeepsTheAttempt",
                        RANDOM),
                mutant(
                        "a release does nothing",
                        BrokenSettles.ReleasesIgnored::new,
                        "aReleaseBeforeDeliveryGivesTheAttemptBack",
                        "aReleaseOfTheHeadGivesBackTheRun",
                        RANDOM),
                mutant(
                        "a settle gives one attempt back at most",
                        BrokenSettles.OneAttemptBack::new,
                        "aRetryGivesBackAsManyAttemptsAsItSays"),
                mutant(
                        "the age counts from when an item was stored",
                        BrokenClaims.AgeFromTheStorage::new,
                        "aDelayedItemIsFirstDueAtItsDueTime",
                        "aRequeuedItemIsFirstDueWhenItIsRequeued"),
                mutant(
                        "the age counts from a due time before an item was stored",
                        BrokenClaims.AgeFromTheDueTimeGiven::new,
                        "aDueTimeInThePastMakesNoItemOlder"),
                mutant(
                        "the age counts from the last retry",
                        BrokenSettles.AgeFromTheLastRetry::new,
                        "aRetryDoesNotChangeWhenAnItemWasFirstDue",
                        "aRetryThatGivesItsAttemptBackDoesNotChangeWhenAnItemWasFirstDue",
                        "aRunThatGoesBackDoesNotChangeWhenItsItemsWereFirstDue",
                        RANDOM),
                mutant(
                        "the age counts from the last release",
                        BrokenSettles.AgeFromTheRelease::new,
                        "aReleaseDoesNotChangeWhenAnItemWasFirstDue",
                        "aRunThatGoesBackDoesNotChangeWhenItsItemsWereFirstDue",
                        RANDOM),
                mutant(
                        "the age counts from the last expiry",
                        BrokenClaims.AgeFromTheExpiry::new,
                        "aLeaseThatRanOutDoesNotChangeWhenAnItemWasFirstDue",
                        "aLeaseThatRanOutDoesNotChangeWhenTheItemsOfARunWereFirstDue",
                        RANDOM),
                mutant(
                        "a requeued item keeps its age",
                        BrokenClaims.RequeueKeepsTheAge::new,
                        "aRequeuedItemIsFirstDueWhenItIsRequeued"),
                mutant(
                        "a settle stops at the first one that is fenced",
                        BrokenSettles.SettleStopsWhenFenced::new,
                        "oneSettleTakesAnyMixOfOutcomesAndTokens"),
                mutant(
                        "a renewal prolongs nothing",
                        BrokenSettles.RenewsNothing::new,
                        "aRenewedLeaseLastsFromTheRenewalOn",
                        "aRenewalKeepsTheWholeRun",
                        RANDOM),
                mutant(
                        "a renewal does not say what is lost",
                        BrokenSettles.SilentRenew::new,
                        "aRenewalAnswersTheLeasesThatAreLost",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        RANDOM),
                mutant(
                        "the next due is that of any row",
                        BrokenClaims.NextDueOfAnyRow::new,
                        "itemsBehindALeasedHeadAreNotNext",
                        "itemsBehindADelayedHeadAreNotNext",
                        "aWaitingItemIsNextAlthoughAKeyIsBlocked"),
                mutant(
                        "topics are ignored",
                        BrokenClaims.TopicsIgnored::new,
                        "aClaimTakesOnlyTheTopicsItAskedFor",
                        "theNextDueCountsOnlyTheTopicsItAskedFor"),
                mutant(
                        "topics to leave out are not",
                        BrokenMarks.NothingLeftOut::new,
                        "aClaimLeavesOutTheTopicsThatItIsToldToLeave",
                        "aTopicThatIsAskedForAndLeftOutIsLeftOut",
                        "topicsThatAreLeftOutForAWhileLoseNothing"),
                mutant(
                        "a mark passes topics that were left out",
                        BrokenMarks.MarkOfAllTopics::new,
                        "topicsThatAreLeftOutForAWhileLoseNothing"),
                mutant(
                        "the last row of a stretch is left out",
                        BrokenMarks.StretchTooShort::new,
                        "noItemIsPassedByOnALongWay"),
                mutant(
                        "a mark passes all items of its due time",
                        BrokenMarks.MarkPassesEqualTimes::new,
                        "itemsOfOneDueTimeAreAllClaimed"),
                mutant(
                        "a head that was tried twice brings its run along",
                        BrokenMarks.RunsOfSuspects::new,
                        "aHeadThatWasTriedTwiceComesAlone"),
                mutant(
                        "a search for expired leases that was full is not repeated",
                        BrokenMarks.OneSearch::new,
                        "allOfManyItemsWhoseLeasesRanOutAreFoundAtOnce"),
                mutant(
                        "what expires again comes back at once",
                        BrokenMarks.NeverPutOff::new,
                        "itemsWhoseLeasesRanOutAgainComeBackAtDifferentTimes"),
                mutant(
                        "a claim looks at the first rows only",
                        BrokenClaims.ShortSighted::new,
                        "aBacklogOfAnotherTopicHidesNothing",
                        "aBacklogOfKeysOfAnotherTopicHidesNothing",
                        "hundredsOfKeysThatAreBackingOffDoNotHideAReadyOne",
                        "aFreshSourceFindsTheReadyKeyAmongHundredsThatAreDelayed"),
                mutant(
                        "the oldest key is always first",
                        BrokenKeys.OldestKeyFirst::new,
                        "keysTakeTurns",
                        "manyKeysTakeTurns"),
                mutant(
                        "items without a key are always first",
                        BrokenKeys.UnkeyedFirst::new,
                        "itemsOfAKeyAreNotStarvedByItemsWithoutAKey"),
                mutant(
                        "items of a key are always first",
                        BrokenKeys.KeyedFirst::new,
                        "itemsWithoutAKeyAreNotStarvedByItemsOfAKey",
                        "itemsWithoutAKeyAreNotStarvedByManyKeys"),
                mutant(
                        "a key never gets more than one place in a batch",
                        BrokenKeys.OneItemPerKey::new,
                        "aLoneHotKeyFillsTheBatch",
                        "aClaimTakesARunOfOneKeyInOrder"),
                mutant(
                        "a claim takes one more than asked for",
                        BrokenClaims.OneMore::new,
                        "aClaimLeasesNoMoreThanItWasAskedFor",
                        RANDOM),
                mutant(
                        "the bound in bytes is ignored",
                        BrokenByteBounds::bytesIgnored,
                        "aClaimEndsWithTheItemThatReachesTheBound",
                        "anItemAboveTheBoundComesAloneIfItIsFirst",
                        "aRunThatWasCutHasNoGap",
                        "keysTakeTurnsAlthoughEachClaimIsCut"),
                mutant(
                        "an item above the bound is left out",
                        BrokenByteBounds::largeItemsLeftOut,
                        "anItemAboveTheBoundComesAloneIfItIsFirst",
                        "smallItemsDoNotKeepALargeOneWaiting",
                        "whatACutClaimLeftIsClaimedNext",
                        "delayedItemsThatACutClaimLeftAreClaimedNext"),
                mutant(
                        "a claim that was cut says that there is no more",
                        BrokenByteBounds::cutMeansNoMore,
                        "aClaimEndsWithTheItemThatReachesTheBound",
                        "whatACutClaimLeftIsClaimedNext",
                        "itemsOfATopicThatACutClaimLeftAreClaimedNext"),
                mutant(
                        "marks pass what a cut claim left",
                        BrokenByteBounds::marksPassWhatWasCut,
                        "aClaimEndsWithTheItemThatReachesTheBound",
                        "whatACutClaimLeftIsClaimedNext",
                        "delayedItemsThatACutClaimLeftAreClaimedNext",
                        "itemsOfATopicThatACutClaimLeftAreClaimedNext"),
                mutant("a cut leaves gaps in runs", BrokenByteBounds::runsWithGaps, "aRunThatWasCutHasNoGap"),
                mutant(
                        "bulk always counts first",
                        BrokenByteBounds::bulkFirst,
                        "urgentItemsDoNotWaitForLargeBulkItems"),
                mutant(
                        "urgent items always count first",
                        BrokenByteBounds::urgentFirst,
                        "everyBandGetsItsShareOfABatch",
                        "everyBandGetsItsShareOfABatchOfATopic",
                        "everyBandGetsItsShareOfDelayedItems",
                        "normalIsServedEvenOneItemAtATime",
                        "normalItemsAreNotStarvedByLargeUrgentItems",
                        "delayedNormalItemsAreNotStarvedByLargeUrgentItems",
                        "bulkItemsAreNotStarvedByLargeUrgentItems",
                        "keysAreNotStarvedByUrgentKeysWithLargeItems"),
                mutant(
                        "the cursor passes heads that a cut claim left",
                        BrokenByteBounds::cursorPassesHeads,
                        "keysTakeTurnsAlthoughEachClaimIsCut"),
                mutant(
                        "the oldest key is first in every claim that is cut",
                        BrokenKeys.OldestKeyFirst::new,
                        "keysTakeTurnsAlthoughEachClaimIsCut",
                        "keysAreClaimedWhileOthersHaveLargeItems",
                        "anUrgentKeyDoesNotWaitForKeysWithLargeItems"),
                mutant(
                        "large items without a key are always first",
                        BrokenKeys.UnkeyedFirst::new,
                        "largeItemsWithAndWithoutAKeyTakeTurns"),
                mutant(
                        "a claim does not report what it reclaimed",
                        BrokenByteBounds::unreportedReclaims,
                        "aClaimReportsTheItemsThatItReclaimed"),
                mutant(
                        "what is Dead counts as reclaimed",
                        BrokenByteBounds::deadAreReclaimed,
                        "anItemThatBecameDeadWasNotReclaimed"),
                mutant(
                        "a claim always says that there is more",
                        BrokenClaims.AlwaysMore::new,
                        "anEmptySourceClaimsNothingAndSaysThatThereIsNoMore"),
                mutant(
                        "locked items are claimed",
                        BrokenLocks.ClaimsLocked::new,
                        "aClaimLeavesLockedItemsAndTakesTheOthers",
                        "aClaimTakesARunUpToItsFirstLockedItem",
                        "expiredLeasesAreFoundBesideALockedItem"),
                mutant(
                        "a locked item counts as lost",
                        BrokenLocks.LockedIsLost::new,
                        "aRenewalAnswersLockedItemsAndRenewsTheOthers",
                        "aSettleAnswersLockedItemsAndSettlesTheOthers",
                        "aKeyIsSettledUpToItsFirstLockedItem",
                        "anItemThatHoldsBackItsKeyGivesNothingBackWhileItIsLocked"),
                mutant(
                        "one locked item keeps all from being renewed",
                        BrokenLocks.OneLocksAllRenewals::new,
                        "aRenewalAnswersLockedItemsAndRenewsTheOthers"),
                mutant(
                        "a key is settled past a locked item",
                        BrokenLocks.SettlesPastLocked::new,
                        "aKeyIsSettledUpToItsFirstLockedItem",
                        "anItemThatHoldsBackItsKeyGivesNothingBackWhileItIsLocked"),
                mutant(
                        "headers are lost",
                        BrokenClaims.HeadersLost::new,
                        "aTextMessageComesWithAllItsFields",
                        "headersMayHoldAnyCharacter"));
    }
}
