package dev.outbox.testkit;

import dev.outbox.Priority;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore.Row;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Sources that are wrong about the bytes of a claim. */
final class BrokenByteBounds {
    private BrokenByteBounds() {}

    private static ClaimRequest unbounded(ClaimRequest request) {
        return request.maxBytes(Integer.MAX_VALUE);
    }

    static final class BytesIgnored extends BrokenSource {
        BytesIgnored(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(unbounded(request));
        }
    }

    /** It waits until a claim has room for it. */
    static final class LargeItemsLeftOut extends BrokenSource {
        LargeItemsLeftOut(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return blindTo(
                    row -> row.status == Status.READY && row.size() > request.maxBytes(), () -> super.claim(request));
        }
    }

    static final class CutMeansNoMore extends BrokenSource {
        CutMeansNoMore(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            boolean full = claim.items().size() == request.count();
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.reclaimed(), full);
        }
    }

    /** As if it had taken all that it looked at. */
    static final class MarksPassWhatWasCut extends BrokenSource {
        private final Set<Row> passed = new HashSet<>();

        MarksPassWhatWasCut(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                List<Row> ready = rows().stream()
                        .filter(row -> row.isEligible(store.clock.instant()) && !passed.contains(row))
                        .limit(request.count())
                        .toList();
                Claim claim = blindTo(passed::contains, () -> super.claim(request));
                passed.addAll(ready);
                return claim;
            }
        }
    }

    /** What does not fit is left out, and what is behind it comes. */
    static final class RunsWithGaps extends BrokenSource {
        RunsWithGaps(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Set<Row> large = new HashSet<>(rows().stream()
                        .filter(row -> row.status == Status.READY && row.size() > request.maxBytes())
                        .skip(1)
                        .toList());
                return blindTo(large::contains, () -> super.claim(unbounded(request)));
            }
        }
    }

    static final class BulkFirst extends BrokenSource {
        BulkFirst(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return preferring(this, request, Priority.BULK, super::claim);
        }
    }

    static final class UrgentFirst extends BrokenSource {
        UrgentFirst(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return preferring(this, request, Priority.HIGH, super::claim);
        }
    }

    private interface Claiming {
        Claim claim(ClaimRequest request);
    }

    private static Claim preferring(BrokenSource source, ClaimRequest request, Priority first, Claiming honest) {
        synchronized (source.store) {
            boolean some = source.rows().stream()
                    .anyMatch(row -> row.status == Status.READY && row.message.priority() == first);
            return source.blindTo(
                    row -> some && row.status == Status.READY && row.message.priority() != first,
                    () -> honest.claim(request));
        }
    }

    /** The cursor goes on after all keys that were looked at, and never comes back for those that were left. */
    static final class CursorPassesHeads extends BrokenSource {
        private String cursor = "";

        CursorPassesHeads(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                String from = cursor;
                Claim claim =
                        blindTo(row -> row.key() != null && row.key().compareTo(from) <= 0, () -> super.claim(request));
                cursor = claim.items().stream()
                        .map(WorkItem::key)
                        .filter(key -> key != null)
                        .reduce((a, b) -> b)
                        .map(key -> key + "~~")
                        .orElse("");
                return claim;
            }
        }
    }

    static final class UnreportedReclaims extends BrokenSource {
        UnreportedReclaims(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.more());
        }
    }

    static final class DeadAreReclaimed extends BrokenSource {
        DeadAreReclaimed(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), claim.dead(), claim.more());
        }
    }
}
