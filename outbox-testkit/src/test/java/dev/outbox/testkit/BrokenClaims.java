package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Sources that are wrong about what may be leased, and for how long. */
final class BrokenClaims {
    private BrokenClaims() {}

    static final class OneTokenForEver extends BrokenSource {
        OneTokenForEver(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim = super.claim(request);
                claim.items().forEach(item -> store.row(item.id()).ownerToken = "worker-1");
                return new Claim("worker-1", claim.at(), claim.items(), claim.dead(), claim.more());
            }
        }
    }

    static final class UncountedAttempts extends BrokenSource {
        UncountedAttempts(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim = super.claim(request);
                claim.items().forEach(item -> store.row(item.id()).attempts--);
                return claim;
            }
        }
    }

    static final class EndlessAttempts extends BrokenSource {
        EndlessAttempts(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(
                    new ClaimRequest(request.count(), request.lease(), 1_000_000, request.topics(), request.owner())
                            .onDead(request.onDead()));
        }
    }

    static final class UnreportedDead extends BrokenSource {
        UnreportedDead(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), List.of(), claim.more());
        }
    }

    static final class LeasesForEver extends BrokenSource {
        LeasesForEver(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim = super.claim(request);
                claim.items().forEach(item -> store.row(item.id()).lockedUntil = Instant.MAX);
                return claim;
            }
        }
    }

    static final class NoLeases extends BrokenSource {
        NoLeases(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim = super.claim(request);
                claim.items().forEach(item -> store.row(item.id()).lockedUntil = Instant.MIN);
                return claim;
            }
        }
    }

    static final class DueIgnored extends BrokenSource {
        DueIgnored(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                rows().forEach(row -> row.due = Instant.MIN);
                return super.claim(request);
            }
        }
    }

    static final class AgeFromTheStorage extends BrokenSource {
        AgeFromTheStorage(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                rows().forEach(row -> row.firstDue = row.createdOn);
                return super.claim(request);
            }
        }
    }

    static final class AgeFromTheDueTimeGiven extends BrokenSource {
        AgeFromTheDueTimeGiven(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                rows().stream()
                        .filter(row -> row.message.due() != null)
                        .forEach(row -> row.firstDue = row.message.due());
                return super.claim(request);
            }
        }
    }

    static final class AgeFromTheExpiry extends BrokenSource {
        AgeFromTheExpiry(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Instant now = store.clock.instant();
                rows().stream()
                        .filter(row -> row.status == Status.PROCESSING && !row.isLeased(now))
                        .forEach(row -> row.firstDue = now);
                return super.claim(request);
            }
        }
    }

    static final class RequeueKeepsTheAge extends BrokenSource {
        private final Map<String, Instant> first = new HashMap<>();

        RequeueKeepsTheAge(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                rows().forEach(row -> row.firstDue = first.computeIfAbsent(row.id, id -> row.firstDue));
                return super.claim(request);
            }
        }
    }

    static final class NextDueOfAnyRow extends BrokenSource {
        NextDueOfAnyRow(InMemoryStore store) {
            super(store);
        }

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            synchronized (store) {
                return rows().stream()
                        .filter(row -> row.status == Status.READY)
                        .map(row -> Duration.between(store.clock.instant(), row.due))
                        .min(Duration::compareTo);
            }
        }
    }

    static final class ExpiredNeverBlock extends BrokenSource {
        ExpiredNeverBlock(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(request.onDead(OnDead.SKIP));
        }
    }

    static final class TopicsIgnored extends BrokenSource {
        TopicsIgnored(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(
                    new ClaimRequest(request.count(), request.lease(), request.maxAttempts(), Set.of(), request.owner())
                            .onDead(request.onDead()));
        }

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            return super.nextDue(Set.of());
        }
    }

    static final class ShortSighted extends BrokenSource {
        ShortSighted(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Set<Row> seen = Set.copyOf(rows().stream()
                        .filter(row -> !row.isFinished())
                        .limit(500)
                        .toList());
                return blindTo(row -> !seen.contains(row), () -> super.claim(request));
            }
        }
    }

    static final class OneMore extends BrokenSource {
        OneMore(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(request.count(request.count() + 1));
        }
    }

    static final class AlwaysMore extends BrokenSource {
        AlwaysMore(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), true);
        }
    }

    static final class HeadersLost extends BrokenSource {
        HeadersLost(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Claim claim = super.claim(request);
            List<WorkItem> items = claim.items().stream()
                    .map(item -> new WorkItem(
                            item.id(),
                            item.sequence(),
                            item.attempt(),
                            item.createdOn(),
                            Message.to(item.topic()).payload(item.payload())))
                    .toList();
            return new Claim(claim.ownerToken(), claim.at(), items, claim.dead(), claim.more());
        }
    }
}
