package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;

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
