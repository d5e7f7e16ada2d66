package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Instant;
import java.util.Optional;

/** Sources that are wrong about the order of a key, or unfair between keys. */
final class BrokenKeys {
    private BrokenKeys() {}

    static final class MarkOnKeys extends BrokenSource {
        MarkOnKeys(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Instant now = store.clock.instant();
            return blindTo(row -> row.status == Status.READY && !row.isEligible(now), () -> super.claim(request));
        }
    }

    static final class HeadIsEnough extends BrokenSource {
        HeadIsEnough(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Instant now = store.clock.instant();
            return blindTo(
                    row -> row.key() != null && row.isLeased(now) && head(row).isEligible(now),
                    () -> super.claim(request));
        }
    }

    static final class InFlightIgnored extends BrokenSource {
        InFlightIgnored(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Instant now = store.clock.instant();
            return blindTo(row -> row.isLeased(now), () -> super.claim(request));
        }
    }

    static final class DeadHeadsBlock extends BrokenSource {
        DeadHeadsBlock(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            return blindTo(
                    row -> row.key() != null
                            && rows().stream()
                                    .anyMatch(dead -> dead.status == Status.DEAD
                                            && row.key().equals(dead.key())),
                    () -> super.claim(request));
        }
    }

    static final class OldestKeyFirst extends BrokenSource {
        OldestKeyFirst(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                Optional<Row> oldest = rows().stream()
                        .filter(row -> row.key() != null && !row.isFinished())
                        .findFirst();
                return blindTo(
                        row -> row.key() != null
                                && !row.key().equals(oldest.orElseThrow().key()),
                        () -> super.claim(request));
            }
        }
    }

    static final class UnkeyedFirst extends BrokenSource {
        UnkeyedFirst(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                boolean unkeyed =
                        rows().stream().anyMatch(row -> row.key() == null && row.isEligible(store.clock.instant()));
                return blindTo(row -> unkeyed && row.key() != null, () -> super.claim(request));
            }
        }
    }

    static final class KeyedFirst extends BrokenSource {
        KeyedFirst(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                boolean keyed =
                        rows().stream().anyMatch(row -> row.key() != null && row.isEligible(store.clock.instant()));
                return blindTo(row -> keyed && row.key() == null, () -> super.claim(request));
            }
        }
    }

    static final class OneItemPerKey extends BrokenSource {
        OneItemPerKey(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            synchronized (store) {
                return blindTo(
                        row -> row.key() != null && !row.isFinished() && head(row) != row, () -> super.claim(request));
            }
        }
    }

    static final class KeysIgnoreCase extends BrokenSource {
        KeysIgnoreCase(InMemoryStore store) {
            super(store);
        }

        @Override
        public Claim claim(ClaimRequest request) {
            Instant now = store.clock.instant();
            return blindTo(
                    row -> row.key() != null
                            && rows().stream()
                                    .anyMatch(other ->
                                            other.isLeased(now) && row.key().equalsIgnoreCase(other.key())),
                    () -> super.claim(request));
        }
    }
}
