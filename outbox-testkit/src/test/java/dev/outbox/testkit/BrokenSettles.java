package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.settling;
import static dev.outbox.testkit.Mutant.RANDOM;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Sources that are wrong about how a lease ends or goes on. */
final class BrokenSettles {
    private BrokenSettles() {}

    static List<Mutant> mutants() {
        return List.of(
                mutant(
                        "settle does not look at the token",
                        SettleUnderAnyToken::new,
                        "aSettleUnderAWrongTokenIsFencedAndChangesNothing",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        "aFencedSettleGivesNothingBack",
                        RANDOM),
                mutant(
                        "settle does not say what was fenced",
                        BrokenSettles::silentSettle,
                        "theSecondSettleOfALeaseIsFenced",
                        "aSettleOfAnItemThatDoesNotExistIsFenced",
                        "oneSettleTakesAnyMixOfOutcomesAndTokens",
                        RANDOM),
                mutant(
                        "a block is forgotten",
                        BrokenSettles::blocksForgotten,
                        "aBlockedKeyIsNotClaimedAndOthersAre",
                        "aDeadItemThatBlocksGivesTheRestOfItsRunBack",
                        "whatWaitsBehindABlockIsNotDue"),
                mutant(
                        "a retry keeps the rest of the run",
                        RunsAreKept::new,
                        "aRetryInTheMiddleOfARunGivesBackEveryLaterItem",
                        "afterARetryTheKeyGoesOnAtTheRetriedItem",
                        "aReleaseOfTheHeadGivesBackTheRun",
                        RANDOM),
                mutant(
                        "a release never gives the attempt back",
                        BrokenSettles::releasesCount,
                        "aReleaseBeforeDeliveryGivesTheAttemptBack",
                        "itemsOfARunThatAreReleasedTogetherAreGivenBackOnce",
                        RANDOM),
                mutant(
                        "a release always gives the attempt back",
                        BrokenSettles::releasesNeverCount,
                        "aReleaseAfterDeliveryBeganKeepsTheAttempt",
                        RANDOM),
                mutant(
                        "a release does nothing",
                        BrokenSettles::releasesIgnored,
                        "aReleaseBeforeDeliveryGivesTheAttemptBack",
                        "aReleaseOfTheHeadGivesBackTheRun",
                        RANDOM),
                mutant(
                        "a settle gives one attempt back at most",
                        BrokenSettles::oneAttemptBack,
                        "aRetryGivesBackAsManyAttemptsAsItSays"),
                mutant(
                        "the age counts from the last retry",
                        BrokenSettles::ageFromTheLastRetry,
                        "aRetryDoesNotChangeWhenAnItemWasFirstDue",
                        "aRetryThatGivesItsAttemptBackDoesNotChangeWhenAnItemWasFirstDue",
                        "aRunThatGoesBackDoesNotChangeWhenItsItemsWereFirstDue",
                        RANDOM),
                mutant(
                        "the age counts from the last release",
                        BrokenSettles::ageFromTheRelease,
                        "aReleaseDoesNotChangeWhenAnItemWasFirstDue",
                        "aRunThatGoesBackDoesNotChangeWhenItsItemsWereFirstDue",
                        RANDOM),
                mutant(
                        "a settle stops at the first one that is fenced",
                        BrokenSettles::settleStopsWhenFenced,
                        "oneSettleTakesAnyMixOfOutcomesAndTokens"),
                mutant(
                        "a renewal prolongs nothing",
                        RenewsNothing::new,
                        "aRenewedLeaseLastsFromTheRenewalOn",
                        "aRenewalKeepsTheWholeRun",
                        RANDOM),
                mutant(
                        "a renewal does not say what is lost",
                        SilentRenew::new,
                        "aRenewalAnswersTheLeasesThatAreLost",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        RANDOM));
    }

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

    static Source blocksForgotten(InMemoryStore store) {
        return settling(
                store,
                (source, settlements) -> source.honestSettle(settlements.stream()
                        .map(given -> given.onDead() == OnDead.BLOCK
                                ? Settlement.dead(given.lease(), String.valueOf(given.error()))
                                : given)
                        .toList()));
    }

    static Source silentSettle(InMemoryStore store) {
        return settling(store, (source, settlements) -> {
            source.honestSettle(settlements);
            return Unchanged.NONE;
        });
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

    static Source releasesCount(InMemoryStore store) {
        return releasing(store, release -> Stream.of(Settlement.release(release.lease(), true)));
    }

    static Source releasesNeverCount(InMemoryStore store) {
        return releasing(store, release -> Stream.of(Settlement.release(release.lease(), false)));
    }

    static Source releasesIgnored(InMemoryStore store) {
        return releasing(store, release -> Stream.empty());
    }

    private static Source releasing(InMemoryStore store, Function<Settlement, Stream<Settlement>> broken) {
        return settling(
                store,
                (source, settlements) -> source.honestSettle(settlements.stream()
                        .flatMap(given ->
                                given.kind() == Settlement.Kind.RELEASE ? broken.apply(given) : Stream.of(given))
                        .toList()));
    }

    static Source oneAttemptBack(InMemoryStore store) {
        return settling(
                store,
                (source, settlements) -> source.honestSettle(settlements.stream()
                        .map(given -> new Settlement(
                                given.lease(),
                                given.kind(),
                                given.delay(),
                                given.error(),
                                Math.min(1, given.attemptsGivenBack()),
                                given.onDead()))
                        .toList()));
    }

    static Source ageFromTheLastRetry(InMemoryStore store) {
        return settling(store, (source, settlements) -> {
            Unchanged fenced = source.honestSettle(settlements);
            settlements.forEach(settlement -> {
                Row row = source.row(settlement.lease());
                if (row != null && settlement.kind() == Settlement.Kind.RETRY) {
                    row.firstDue = row.due;
                }
            });
            return fenced;
        });
    }

    static Source ageFromTheRelease(InMemoryStore store) {
        return settling(store, (source, settlements) -> {
            List<Row> leased = source.rows().stream()
                    .filter(row -> row.status == Status.PROCESSING)
                    .toList();
            Unchanged fenced = source.honestSettle(settlements);
            Set<Row> retried = settlements.stream()
                    .filter(settlement -> settlement.kind() == Settlement.Kind.RETRY)
                    .map(settlement -> source.row(settlement.lease()))
                    .collect(Collectors.toSet());
            leased.stream()
                    .filter(row -> row.status == Status.READY && !retried.contains(row))
                    .forEach(row -> row.firstDue = store.clock.instant());
            return fenced;
        });
    }

    static Source settleStopsWhenFenced(InMemoryStore store) {
        return settling(store, (source, settlements) -> {
            for (int i = 0; i < settlements.size(); i++) {
                Unchanged fenced = source.honestSettle(settlements.subList(i, i + 1));
                if (!fenced.isEmpty()) {
                    return fenced;
                }
            }
            return Unchanged.NONE;
        });
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
