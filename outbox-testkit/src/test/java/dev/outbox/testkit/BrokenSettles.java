package dev.outbox.testkit;

import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Sources that are wrong about how a lease ends or goes on. */
final class BrokenSettles {
    private BrokenSettles() {}

    static final class SettleUnderAnyToken extends BrokenSource {
        SettleUnderAnyToken(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            synchronized (store) {
                return super.settle(settlements.stream().map(this::forged).toList());
            }
        }

        private Settlement forged(Settlement given) {
            Row row = row(given.lease());
            String token = row == null || row.ownerToken == null ? given.lease().ownerToken() : row.ownerToken;
            Lease lease = new Lease(given.lease().itemId(), token);
            return new Settlement(
                    lease, given.kind(), given.delay(), given.error(), given.attemptsGivenBack(), given.onDead());
        }
    }

    static final class BlocksForgotten extends BrokenSource {
        BlocksForgotten(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            return super.settle(settlements.stream()
                    .map(given -> given.onDead() == OnDead.BLOCK
                            ? Settlement.dead(given.lease(), String.valueOf(given.error()))
                            : given)
                    .toList());
        }
    }

    static final class SilentSettle extends BrokenSource {
        SilentSettle(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            super.settle(settlements);
            return Unchanged.NONE;
        }
    }

    static final class RunsAreKept extends BrokenSource {
        RunsAreKept(InMemoryStore store) {
            super(store);
        }

        private record LeaseOf(String token, Instant until, int attempts) {}

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            synchronized (store) {
                Map<Row, LeaseOf> leased = new HashMap<>();
                for (Row row : rows()) {
                    if (row.status == Status.PROCESSING) {
                        leased.put(row, new LeaseOf(row.ownerToken, row.lockedUntil, row.attempts));
                    }
                }
                settlements.forEach(settlement -> leased.remove(row(settlement.lease())));
                Unchanged fenced = super.settle(settlements);
                leased.forEach((row, lease) -> {
                    row.status = Status.PROCESSING;
                    row.ownerToken = lease.token();
                    row.lockedUntil = lease.until();
                    row.attempts = lease.attempts();
                });
                return fenced;
            }
        }
    }

    abstract static class BrokenRelease extends BrokenSource {
        BrokenRelease(InMemoryStore store) {
            super(store);
        }

        abstract Optional<Settlement> broken(Settlement release);

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            return super.settle(settlements.stream()
                    .flatMap(given -> given.kind() == Settlement.Kind.RELEASE
                            ? broken(given).stream()
                            : Optional.of(given).stream())
                    .toList());
        }
    }

    static final class ReleasesCount extends BrokenRelease {
        ReleasesCount(InMemoryStore store) {
            super(store);
        }

        @Override
        Optional<Settlement> broken(Settlement release) {
            return Optional.of(Settlement.release(release.lease(), true));
        }
    }

    static final class ReleasesNeverCount extends BrokenRelease {
        ReleasesNeverCount(InMemoryStore store) {
            super(store);
        }

        @Override
        Optional<Settlement> broken(Settlement release) {
            return Optional.of(Settlement.release(release.lease(), false));
        }
    }

    static final class ReleasesIgnored extends BrokenRelease {
        ReleasesIgnored(InMemoryStore store) {
            super(store);
        }

        @Override
        Optional<Settlement> broken(Settlement release) {
            return Optional.empty();
        }
    }

    static final class OneAttemptBack extends BrokenSource {
        OneAttemptBack(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            return super.settle(settlements.stream()
                    .map(given -> new Settlement(
                            given.lease(),
                            given.kind(),
                            given.delay(),
                            given.error(),
                            Math.min(1, given.attemptsGivenBack()),
                            given.onDead()))
                    .toList());
        }
    }

    static final class AgeFromTheLastRetry extends BrokenSource {
        AgeFromTheLastRetry(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            synchronized (store) {
                Unchanged fenced = super.settle(settlements);
                settlements.forEach(settlement -> {
                    Row row = row(settlement.lease());
                    if (row != null && settlement.kind() == Settlement.Kind.RETRY) {
                        row.firstDue = row.due;
                    }
                });
                return fenced;
            }
        }
    }

    static final class AgeFromTheRelease extends BrokenSource {
        AgeFromTheRelease(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            synchronized (store) {
                List<Row> leased = rows().stream()
                        .filter(row -> row.status == Status.PROCESSING)
                        .toList();
                Unchanged fenced = super.settle(settlements);
                Set<Row> retried = settlements.stream()
                        .filter(settlement -> settlement.kind() == Settlement.Kind.RETRY)
                        .map(settlement -> row(settlement.lease()))
                        .collect(Collectors.toSet());
                leased.stream()
                        .filter(row -> row.status == Status.READY && !retried.contains(row))
                        .forEach(row -> row.firstDue = store.clock.instant());
                return fenced;
            }
        }
    }

    static final class SettleStopsWhenFenced extends BrokenSource {
        SettleStopsWhenFenced(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            for (int i = 0; i < settlements.size(); i++) {
                Unchanged fenced = super.settle(settlements.subList(i, i + 1));
                if (!fenced.isEmpty()) {
                    return fenced;
                }
            }
            return Unchanged.NONE;
        }
    }

    static final class RenewsNothing extends BrokenSource {
        RenewsNothing(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            synchronized (store) {
                Map<Row, Instant> before = new HashMap<>();
                rows().forEach(row -> before.put(row, row.lockedUntil));
                Unchanged lost = super.renew(leases, length);
                before.forEach((row, until) -> row.lockedUntil = until);
                return lost;
            }
        }
    }

    static final class SilentRenew extends BrokenSource {
        SilentRenew(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            super.renew(leases, length);
            return Unchanged.NONE;
        }
    }
}
