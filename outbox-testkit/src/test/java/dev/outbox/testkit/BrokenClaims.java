package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;
import static dev.outbox.testkit.Mutant.RANDOM;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
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

    static List<Mutant> mutants() {
        return List.of(
                mutant(
                        "the owner token is the worker's name",
                        BrokenClaims::oneTokenForEver,
                        "everyClaimDrawsAFreshOwnerToken",
                        "aWorkerThatLostItsLeaseCanChangeNothing",
                        RANDOM),
                mutant(
                        "the attempt is not counted",
                        BrokenClaims::uncountedAttempts,
                        "claimedItemsAreProcessingAndTheirAttemptIsCounted",
                        "anItemThatKillsItsWorkersEndsDeadAfterItsLastAttempt",
                        RANDOM),
                mutant(
                        "a claim does not know the last attempt",
                        BrokenClaims::endlessAttempts,
                        "anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported",
                        "aHeadThatKilledItsWorkersIsSkipped",
                        RANDOM),
                mutant(
                        "a claim does not report the dead",
                        BrokenClaims::unreportedDead,
                        "anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported",
                        RANDOM),
                mutant(
                        "expired leases are never found",
                        BrokenClaims::leasesForEver,
                        "anItemWhoseLeaseRanOutIsClaimableByAnotherSource",
                        "aRunWhoseLeaseRanOutIsClaimedAgainFromItsHead",
                        "anExpiredItemIsFoundAmongItsTopics",
                        RANDOM),
                mutant(
                        "leased items are claimed again",
                        BrokenClaims::noLeases,
                        "claimedItemsAreNotClaimableBySomebodyElseNorAgain",
                        "anItemIsNotClaimableBeforeItsLeaseRunsOut",
                        "noItemIsLeasedTwiceByNodesThatClaimAtTheSameMoment",
                        RANDOM),
                mutant(
                        "the due time is ignored",
                        BrokenClaims::dueIgnored,
                        "aDelayedItemIsClaimableOnceItIsDue",
                        "aRetriedItemIsClaimableOnlyAfterItsDelay",
                        "aHeadWithAFutureDueDelaysItsKey",
                        RANDOM),
                mutant(
                        "an expired item never blocks",
                        BrokenClaims::expiredNeverBlock,
                        "anItemWhoseLastLeaseRanOutBlocksIfTheClaimSaysSo"),
                mutant(
                        "the age counts from when an item was stored",
                        BrokenClaims::ageFromTheStorage,
                        "aDelayedItemIsFirstDueAtItsDueTime",
                        "aRequeuedItemIsFirstDueWhenItIsRequeued"),
                mutant(
                        "the age counts from a due time before an item was stored",
                        BrokenClaims::ageFromTheDueTimeGiven,
                        "aDueTimeInThePastMakesNoItemOlder"),
                mutant(
                        "the age counts from the last expiry",
                        BrokenClaims::ageFromTheExpiry,
                        "aLeaseThatRanOutDoesNotChangeWhenAnItemWasFirstDue",
                        "aLeaseThatRanOutDoesNotChangeWhenTheItemsOfARunWereFirstDue",
                        RANDOM),
                mutant(
                        "a requeued item keeps its age",
                        BrokenClaims::requeueKeepsTheAge,
                        "aRequeuedItemIsFirstDueWhenItIsRequeued"),
                mutant(
                        "the next due is that of any row",
                        NextDueOfAnyRow::new,
                        "itemsBehindALeasedHeadAreNotNext",
                        "itemsBehindADelayedHeadAreNotNext",
                        "aWaitingItemIsNextAlthoughAKeyIsBlocked"),
                mutant(
                        "topics are ignored",
                        TopicsIgnored::new,
                        "aClaimTakesOnlyTheTopicsItAskedFor",
                        "theNextDueCountsOnlyTheTopicsItAskedFor"),
                mutant(
                        "a claim looks at the first rows only",
                        BrokenClaims::shortSighted,
                        "aBacklogOfAnotherTopicHidesNothing",
                        "aBacklogOfKeysOfAnotherTopicHidesNothing",
                        "hundredsOfKeysThatAreBackingOffDoNotHideAReadyOne",
                        "aFreshSourceFindsTheReadyKeyAmongHundredsThatAreDelayed"),
                mutant(
                        "a claim takes one more than asked for",
                        BrokenClaims::oneMore,
                        "aClaimLeasesNoMoreThanItWasAskedFor",
                        RANDOM),
                mutant(
                        "a claim always says that there is more",
                        BrokenClaims::alwaysMore,
                        "anEmptySourceClaimsNothingAndSaysThatThereIsNoMore"),
                mutant(
                        "headers are lost",
                        BrokenClaims::headersLost,
                        "aTextMessageComesWithAllItsFields",
                        "headersMayHoldAnyCharacter"));
    }

    static Source oneTokenForEver(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            claim.items().forEach(item -> store.row(item.id()).ownerToken = "worker-1");
            return new Claim("worker-1", claim.at(), claim.items(), claim.dead(), claim.more());
        });
    }

    static Source uncountedAttempts(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            claim.items().forEach(item -> store.row(item.id()).attempts--);
            return claim;
        });
    }

    static Source endlessAttempts(InMemoryStore store) {
        return claiming(
                store,
                (source, request) -> source.honestClaim(
                        new ClaimRequest(request.count(), request.lease(), 1_000_000, request.topics(), request.owner())
                                .onDead(request.onDead())));
    }

    static Source unreportedDead(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), List.of(), claim.more());
        });
    }

    static Source leasesForEver(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            claim.items().forEach(item -> store.row(item.id()).lockedUntil = Instant.MAX);
            return claim;
        });
    }

    static Source noLeases(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            claim.items().forEach(item -> store.row(item.id()).lockedUntil = Instant.MIN);
            return claim;
        });
    }

    static Source dueIgnored(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            source.rows().forEach(row -> row.due = Instant.MIN);
            return source.honestClaim(request);
        });
    }

    static Source ageFromTheStorage(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            source.rows().forEach(row -> row.firstDue = row.createdOn);
            return source.honestClaim(request);
        });
    }

    static Source ageFromTheDueTimeGiven(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            source.rows().stream()
                    .filter(row -> row.message.due() != null)
                    .forEach(row -> row.firstDue = row.message.due());
            return source.honestClaim(request);
        });
    }

    static Source ageFromTheExpiry(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            source.rows().stream()
                    .filter(row -> row.status == Status.PROCESSING && !row.isLeased(now))
                    .forEach(row -> row.firstDue = now);
            return source.honestClaim(request);
        });
    }

    static Source requeueKeepsTheAge(InMemoryStore store) {
        Map<String, Instant> first = new HashMap<>();
        return claiming(store, (source, request) -> {
            source.rows().forEach(row -> row.firstDue = first.computeIfAbsent(row.id, id -> row.firstDue));
            return source.honestClaim(request);
        });
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

    static Source expiredNeverBlock(InMemoryStore store) {
        return claiming(store, (source, request) -> source.honestClaim(request.onDead(OnDead.SKIP)));
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

    static Source shortSighted(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Set<Row> seen = Set.copyOf(source.rows().stream()
                    .filter(row -> !row.isFinished())
                    .limit(500)
                    .toList());
            return source.blindTo(row -> !seen.contains(row), () -> source.honestClaim(request));
        });
    }

    static Source oneMore(InMemoryStore store) {
        return claiming(store, (source, request) -> source.honestClaim(request.count(request.count() + 1)));
    }

    static Source alwaysMore(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), true);
        });
    }

    static Source headersLost(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Claim claim = source.honestClaim(request);
            List<WorkItem> items = claim.items().stream()
                    .map(item -> new WorkItem(
                            item.id(),
                            item.sequence(),
                            item.attempt(),
                            item.createdOn(),
                            Message.to(item.topic()).payload(item.payload())))
                    .toList();
            return new Claim(claim.ownerToken(), claim.at(), items, claim.dead(), claim.more());
        });
    }
}
