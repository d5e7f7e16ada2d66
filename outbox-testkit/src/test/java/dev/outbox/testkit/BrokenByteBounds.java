package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.Priority;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore.Row;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** Sources that are wrong about the bytes of a claim, or about what a claim reports. */
final class BrokenByteBounds {
    private BrokenByteBounds() {}

    static List<Mutant> mutants() {
        return List.of(
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
                        "a claim does not report what it reclaimed",
                        BrokenByteBounds::unreportedReclaims,
                        "aClaimReportsTheItemsThatItReclaimed"),
                mutant(
                        "what is Dead counts as reclaimed",
                        BrokenByteBounds::deadAreReclaimed,
                        "anItemThatBecameDeadWasNotReclaimed"));
    }

    private static ClaimRequest unbounded(ClaimRequest request) {
        return request.maxBytes(Integer.MAX_VALUE);
    }

    private static boolean isTooLarge(Row row, ClaimRequest request) {
        return row.status == Status.READY && row.size() > request.maxBytes();
    }

    static Source bytesIgnored(InMemoryStore store) {
        return claiming(store, (source, request) -> source.honestClaim(unbounded(request)));
    }

    /** It waits until a claim has room for it. */
    static Source largeItemsLeftOut(InMemoryStore store) {
        return claiming(
                store,
                (source, request) ->
                        source.blindTo(row -> isTooLarge(row, request), () -> source.honestClaim(request)));
    }

    static Source cutMeansNoMore(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            boolean full = claim.items().size() == request.count();
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.reclaimed(), full);
        });
    }

    /** As if it had taken all that it looked at. */
    static Source marksPassWhatWasCut(InMemoryStore store) {
        Set<Row> passed = new HashSet<>();
        return claiming(store, (source, request) -> {
            List<Row> ready = source.rows().stream()
                    .filter(row -> row.isEligible(store.clock.instant()) && !passed.contains(row))
                    .limit(request.count())
                    .toList();
            Claim claim = source.blindTo(passed::contains, () -> source.honestClaim(request));
            passed.addAll(ready);
            return claim;
        });
    }

    /** What does not fit is left out, and what is behind it comes. */
    static Source runsWithGaps(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Set<Row> large = new HashSet<>(source.rows().stream()
                    .filter(row -> isTooLarge(row, request))
                    .skip(1)
                    .toList());
            return source.blindTo(large::contains, () -> source.honestClaim(unbounded(request)));
        });
    }

    static Source bulkFirst(InMemoryStore store) {
        return preferring(store, Priority.BULK);
    }

    static Source urgentFirst(InMemoryStore store) {
        return preferring(store, Priority.HIGH);
    }

    private static Source preferring(InMemoryStore store, Priority first) {
        return claiming(store, (source, request) -> {
            boolean some = source.rows().stream()
                    .anyMatch(row -> row.status == Status.READY && row.message.priority() == first);
            return source.blindTo(
                    row -> some && row.status == Status.READY && row.message.priority() != first,
                    () -> source.honestClaim(request));
        });
    }

    /** The cursor goes on after all keys that were looked at, and never comes back for those that were left. */
    static Source cursorPassesHeads(InMemoryStore store) {
        AtomicReference<String> cursor = new AtomicReference<>("");
        return claiming(store, (source, request) -> {
            String from = cursor.get();
            Claim claim = source.blindTo(
                    row -> row.key() != null && row.key().compareTo(from) <= 0, () -> source.honestClaim(request));
            cursor.set(claim.items().stream()
                    .map(WorkItem::key)
                    .filter(Objects::nonNull)
                    .reduce((a, b) -> b)
                    .map(key -> key + "~~")
                    .orElse(""));
            return claim;
        });
    }

    static Source unreportedReclaims(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.more());
        });
    }

    static Source deadAreReclaimed(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.dead(), claim.more());
        });
    }
}
