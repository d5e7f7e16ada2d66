package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;
import static dev.outbox.testkit.BrokenSource.settling;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Sources that get on badly with locks of other transactions. */
final class BrokenLocks {
    private BrokenLocks() {}

    static List<Mutant> mutants() {
        return List.of(
                mutant(
                        "locked items are claimed",
                        BrokenLocks::claimsLocked,
                        "aClaimLeavesLockedItemsAndTakesTheOthers",
                        "aClaimTakesARunUpToItsFirstLockedItem",
                        "expiredLeasesAreFoundBesideALockedItem"),
                mutant(
                        "a locked item counts as lost",
                        LockedIsLost::new,
                        "aRenewalAnswersLockedItemsAndRenewsTheOthers",
                        "aSettleAnswersLockedItemsAndSettlesTheOthers",
                        "aKeyIsSettledUpToItsFirstLockedItem",
                        "anItemThatHoldsBackItsKeyGivesNothingBackWhileItIsLocked"),
                mutant(
                        "one locked item keeps all from being renewed",
                        OneLocksAllRenewals::new,
                        "aRenewalAnswersLockedItemsAndRenewsTheOthers"),
                mutant(
                        "a key is settled past a locked item",
                        BrokenLocks::settlesPastLocked,
                        "aKeyIsSettledUpToItsFirstLockedItem",
                        "anItemThatHoldsBackItsKeyGivesNothingBackWhileItIsLocked"));
    }

    static Source claimsLocked(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Set<String> locked = Set.copyOf(store.locked);
            store.locked.clear();
            try {
                return source.honestClaim(request);
            } finally {
                store.locked.addAll(locked);
            }
        });
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

    static Source settlesPastLocked(InMemoryStore store) {
        return settling(store, (source, settlements) -> {
            Unchanged unchanged = Unchanged.NONE;
            for (Settlement settlement : settlements) {
                unchanged = unchanged.and(source.honestSettle(List.of(settlement)));
            }
            return unchanged;
        });
    }
}
