package dev.outbox.sqlserver;

import java.util.Map;
import java.util.Optional;

/** Tests that a Babelfish server cannot pass, each with the reason; docs/reference/sqlserver.md has the same list. */
final class BabelfishGaps {
    private static final String UNCAUGHT =
            "a claim of keys takes them without waiting, by catching a lock timeout, which TRY does not catch there";

    static final Map<String, String> GAPS = Map.of(
            "keysStayInOrderWhenManyNodesDeliver",
            UNCAUGHT,
            "noItemIsLeasedTwiceByNodesThatClaimAtTheSameMoment",
            UNCAUGHT,
            "aKeyThatOthersHoldIsLeftAlone",
            UNCAUGHT,
            "aRivalUnderRepeatableReadIsToldToTryAgain",
            "Babelfish refuses SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "aRivalUnderSerializableIsToldToTryAgain",
            "Babelfish refuses SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "aRivalThatWaitedTooLongIsToldToTryAgainAndNotThatItIsADuplicate",
            "a lock timeout has the number 33557097 there, which stands for every unmapped error, instead of 1222");

    private BabelfishGaps() {}

    static Optional<String> of(String test) {
        return Optional.ofNullable(GAPS.get(test));
    }
}
