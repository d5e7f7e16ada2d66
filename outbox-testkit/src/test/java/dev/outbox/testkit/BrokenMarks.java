package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Sources that do not look everywhere, or look at the wrong time. */
final class BrokenMarks {
    private BrokenMarks() {}

    static final class NothingLeftOut extends BrokenSource {
        NothingLeftOut(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return super.claim(request.except(Set.of()));
        }
    }

    /** It passes what it was told to leave out. */
    static final class MarkOfAllTopics extends BrokenSource {
        private final Set<Row> passed = new HashSet<>();

        MarkOfAllTopics(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Claim claim = blindTo(passed::contains, () -> super.claim(request));
                passed.addAll(rows());
                return claim;
            }
        }
    }

    static final class StretchTooShort extends BrokenSource {
        StretchTooShort(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return blindTo(row -> row.sequence % 4_096 == 0, () -> super.claim(request));
        }
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

    static final class NeverPutOff extends BrokenSource {
        NeverPutOff(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Instant now = store.clock.instant();
                Map<Row, Integer> attempts = new HashMap<>();
                rows().stream()
                        .filter(row -> row.status == Status.PROCESSING && !row.isLeased(now) && row.attempts > 1)
                        .forEach(row -> {
                            attempts.put(row, row.attempts - 1);
                            row.attempts = 1;
                        });
                Claim claim = super.claim(request);
                attempts.forEach((row, before) -> row.attempts += before);
                return claim;
            }
        }
    }

    static final class RunsOfSuspects extends BrokenSource {
        RunsOfSuspects(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Map<Row, Integer> attempts = new HashMap<>();
                rows().stream()
                        .filter(row -> row.status == Status.READY && row.attempts > 1)
                        .forEach(row -> {
                            attempts.put(row, row.attempts - 1);
                            row.attempts = 1;
                        });
                Claim claim = super.claim(request);
                attempts.forEach((row, before) -> row.attempts += before);
                return claim;
            }
        }
    }
}
