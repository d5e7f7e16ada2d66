package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;
import static dev.outbox.testkit.Mutant.RANDOM;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.Status;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Sources that are wrong about the order of a key, or unfair between keys. */
final class BrokenKeys {
    private BrokenKeys() {}

    static List<Mutant> mutants() {
        return List.of(
                mutant(
                        "a low-water mark goes past heads that are backing off",
                        BrokenKeys::markOnKeys,
                        "aHeadThatIsBackingOffHoldsBackItsKeyOnly",
                        "itemsEnqueuedBehindABackingOffHeadDoNotOvertakeIt",
                        "aRunEndsBeforeAnItemThatIsNotDue",
                        RANDOM),
                mutant(
                        "the leases of a key are ignored if its head is ready",
                        BrokenKeys::headIsEnough,
                        "aRequeuedItemWaitsForTheLeasedItemsOfItsKey"),
                mutant(
                        "only rows that are not in flight make the head",
                        BrokenKeys::inFlightIgnored,
                        "aLeasedKeyIsHeldBackWhileOtherKeysFlow",
                        "aSettledPrefixKeepsTheRestOfTheRunLeased",
                        "keysStayInOrderWhenManyNodesDeliver",
                        RANDOM),
                mutant("keys ignore case", BrokenKeys::keysIgnoreCase, "keysCompareExactly"),
                mutant("a dead head blocks its key", BrokenKeys::deadHeadsBlock, "aDeadHeadIsSkipped", RANDOM),
                mutant(
                        "the oldest key is always first",
                        BrokenKeys::oldestKeyFirst,
                        "keysTakeTurns",
                        "manyKeysTakeTurns"),
                mutant(
                        "items without a key are always first",
                        BrokenKeys::unkeyedFirst,
                        "itemsOfAKeyAreNotStarvedByItemsWithoutAKey"),
                mutant(
                        "items of a key are always first",
                        BrokenKeys::keyedFirst,
                        "itemsWithoutAKeyAreNotStarvedByItemsOfAKey",
                        "itemsWithoutAKeyAreNotStarvedByManyKeys"),
                mutant(
                        "a key never gets more than one place in a batch",
                        BrokenKeys::oneItemPerKey,
                        "aLoneHotKeyFillsTheBatch",
                        "aClaimTakesARunOfOneKeyInOrder"),
                mutant(
                        "the oldest key is first in every claim that is cut",
                        BrokenKeys::oldestKeyFirst,
                        "keysTakeTurnsAlthoughEachClaimIsCut",
                        "keysAreClaimedWhileOthersHaveLargeItems",
                        "anUrgentKeyDoesNotWaitForKeysWithLargeItems"),
                mutant(
                        "large items without a key are always first",
                        BrokenKeys::unkeyedFirst,
                        "largeItemsWithAndWithoutAKeyTakeTurns"));
    }

    static Source markOnKeys(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            return source.blindTo(
                    row -> row.status == Status.READY && !row.isEligible(now), () -> source.honestClaim(request));
        });
    }

    static Source headIsEnough(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            return source.blindTo(
                    row -> row.key() != null
                            && row.isLeased(now)
                            && source.head(row).isEligible(now),
                    () -> source.honestClaim(request));
        });
    }

    static Source inFlightIgnored(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            return source.blindTo(row -> row.isLeased(now), () -> source.honestClaim(request));
        });
    }

    static Source deadHeadsBlock(InMemoryStore store) {
        return claiming(
                store,
                (source, request) -> source.blindTo(
                        row -> row.key() != null
                                && source.rows().stream()
                                        .anyMatch(dead -> dead.status == Status.DEAD
                                                && row.key().equals(dead.key())),
                        () -> source.honestClaim(request)));
    }

    static Source oldestKeyFirst(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Optional<Row> oldest = source.rows().stream()
                    .filter(row -> row.key() != null && !row.isFinished())
                    .findFirst();
            return source.blindTo(
                    row -> row.key() != null
                            && !row.key().equals(oldest.orElseThrow().key()),
                    () -> source.honestClaim(request));
        });
    }

    static Source unkeyedFirst(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            boolean unkeyed =
                    source.rows().stream().anyMatch(row -> row.key() == null && row.isEligible(store.clock.instant()));
            return source.blindTo(row -> unkeyed && row.key() != null, () -> source.honestClaim(request));
        });
    }

    static Source keyedFirst(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            boolean keyed =
                    source.rows().stream().anyMatch(row -> row.key() != null && row.isEligible(store.clock.instant()));
            return source.blindTo(row -> keyed && row.key() == null, () -> source.honestClaim(request));
        });
    }

    static Source oneItemPerKey(InMemoryStore store) {
        return claiming(
                store,
                (source, request) -> source.blindTo(
                        row -> row.key() != null && !row.isFinished() && source.head(row) != row,
                        () -> source.honestClaim(request)));
    }

    static Source keysIgnoreCase(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            return source.blindTo(
                    row -> row.key() != null
                            && source.rows().stream()
                                    .anyMatch(other ->
                                            other.isLeased(now) && row.key().equalsIgnoreCase(other.key())),
                    () -> source.honestClaim(request));
        });
    }
}
