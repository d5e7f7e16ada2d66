package dev.outbox.testkit;

import static dev.outbox.testkit.BrokenSource.claiming;
import static dev.outbox.testkit.Mutant.mutant;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Sources that do not look everywhere, or look at the wrong time. */
final class BrokenMarks {
    private BrokenMarks() {}

    static List<Mutant> mutants() {
        return List.of(
                mutant(
                        "topics to leave out are not",
                        BrokenMarks::nothingLeftOut,
                        "aClaimLeavesOutTheTopicsThatItIsToldToLeave",
                        "aTopicThatIsAskedForAndLeftOutIsLeftOut",
                        "topicsThatAreLeftOutForAWhileLoseNothing"),
                mutant(
                        "a mark passes topics that were left out",
                        BrokenMarks::markOfAllTopics,
                        "topicsThatAreLeftOutForAWhileLoseNothing"),
                mutant(
                        "the last row of a stretch is left out",
                        BrokenMarks::stretchTooShort,
                        "noItemIsPassedByOnALongWay"),
                mutant(
                        "a mark passes all items of its due time",
                        MarkPassesEqualTimes::new,
                        "itemsOfOneDueTimeAreAllClaimed"),
                mutant(
                        "a head that was tried twice brings its run along",
                        BrokenMarks::runsOfSuspects,
                        "aHeadThatWasTriedTwiceComesAlone"),
                mutant(
                        "a search for expired leases that was full is not repeated",
                        OneSearch::new,
                        "allOfManyItemsWhoseLeasesRanOutAreFoundAtOnce"),
                mutant(
                        "what expires again comes back at once",
                        BrokenMarks::neverPutOff,
                        "itemsWhoseLeasesRanOutAgainComeBackAtDifferentTimes"));
    }

    static Source nothingLeftOut(InMemoryStore store) {
        return claiming(store, (source, request) -> source.honestClaim(request.except(Set.of())));
    }

    /** It passes what it was told to leave out. */
    static Source markOfAllTopics(InMemoryStore store) {
        Set<Row> passed = new HashSet<>();
        return claiming(store, (source, request) -> {
            Claim claim = source.blindTo(passed::contains, () -> source.honestClaim(request));
            passed.addAll(source.rows());
            return claim;
        });
    }

    static Source stretchTooShort(InMemoryStore store) {
        return claiming(
                store,
                (source, request) ->
                        source.blindTo(row -> row.sequence % 4_096 == 0, () -> source.honestClaim(request)));
    }

    static final class MarkPassesEqualTimes extends BrokenSource {
        private Instant mark = Instant.MIN;

        MarkPassesEqualTimes(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim =
                        blindTo(row -> row.message.due() != null && !row.due.isAfter(mark), () -> super.claim(request));
                for (WorkItem item : claim.items()) {
                    mark = store.row(item.id()).due;
                }
                return claim;
            }
        }
    }

    /** A search for leases that ran out ends a thousand of them, and then it rests although it was full. */
    static final class OneSearch extends BrokenSource {
        private Instant searched = Instant.MIN;

        OneSearch(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Instant now = store.clock.instant();
                List<Row> expired = expired(now);
                Set<Row> found = new HashSet<>(
                        now.equals(searched) ? List.of() : expired.subList(0, Math.min(1_000, expired.size())));
                searched = now;
                return blindTo(row -> expired.contains(row) && !found.contains(row), () -> super.claim(request));
            }
        }

        private List<Row> expired(Instant now) {
            return rows().stream()
                    .filter(row -> row.status == Status.PROCESSING && !row.isLeased(now))
                    .toList();
        }
    }

    static Source neverPutOff(InMemoryStore store) {
        return claiming(store, (source, request) -> {
            Instant now = store.clock.instant();
            return asIfTriedOnce(source, request, row -> row.status == Status.PROCESSING && !row.isLeased(now));
        });
    }

    static Source runsOfSuspects(InMemoryStore store) {
        return claiming(store, (source, request) -> asIfTriedOnce(source, request, row -> row.status == Status.READY));
    }

    /** Claims while the attempts of these rows, but for one of each, are forgotten. */
    private static Claim asIfTriedOnce(BrokenSource source, ClaimRequest request, Predicate<Row> rows) {
        Map<Row, Integer> attempts = new HashMap<>();
        source.rows().stream().filter(rows).filter(row -> row.attempts > 1).forEach(row -> {
            attempts.put(row, row.attempts - 1);
            row.attempts = 1;
        });
        Claim claim = source.honestClaim(request);
        attempts.forEach((row, before) -> row.attempts += before);
        return claim;
    }
}
