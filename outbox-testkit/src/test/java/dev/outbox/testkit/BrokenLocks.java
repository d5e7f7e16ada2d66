package dev.outbox.testkit;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Sources that get on badly with locks of other transactions. */
final class BrokenLocks {
    private BrokenLocks() {}

    static final class ClaimsLocked extends BrokenSource {
        ClaimsLocked(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Set<String> locked = Set.copyOf(store.locked);
                store.locked.clear();
                try {
                    return super.claim(request);
                } finally {
                    store.locked.addAll(locked);
                }
            }
        }
    }

    static final class LockedIsLost extends BrokenSource {
        LockedIsLost(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            return asLost(super.settle(settlements));
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            return asLost(super.renew(leases, length));
        }

        private static Unchanged asLost(Unchanged unchanged) {
            return Unchanged.lost(unchanged.lost()).and(Unchanged.lost(unchanged.locked()));
        }
    }

    static final class OneLocksAllRenewals extends BrokenSource {
        OneLocksAllRenewals(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            synchronized (store) {
                return leases.stream().anyMatch(lease -> store.isLocked(row(lease)))
                        ? new Unchanged(Set.of(), Set.copyOf(leases))
                        : super.renew(leases, length);
            }
        }
    }

    static final class SettlesPastLocked extends BrokenSource {
        SettlesPastLocked(InMemoryStore store) {
            super(store);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            Unchanged unchanged = Unchanged.NONE;
            for (Settlement settlement : settlements) {
                unchanged = unchanged.and(super.settle(List.of(settlement)));
            }
            return unchanged;
        }
    }
}
