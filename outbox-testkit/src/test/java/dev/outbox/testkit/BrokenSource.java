package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** An honest source in the hands of somebody who perturbs its calls or tampers with its rows. */
class BrokenSource implements Source {
    final InMemoryStore store;
    private final Source honest;

    BrokenSource(InMemoryStore store) {
        this.store = store;
        this.honest = store.source();
    }

    /** A claim that goes wrong. */
    interface BrokenClaim {
        Claim claim(BrokenSource source, ClaimRequest request);
    }

    /** A source that is honest but for its claims. */
    static Source claiming(InMemoryStore store, BrokenClaim broken) {
        return new BrokenSource(store) {
            @Override
            public Claim claim(ClaimRequest request) {
                synchronized (store) {
                    return broken.claim(this, request);
                }
            }
        };
    }

    /** A settle that goes wrong. */
    interface BrokenSettle {
        Unchanged settle(BrokenSource source, List<Settlement> settlements);
    }

    /** A source that is honest but for its settles. */
    static Source settling(InMemoryStore store, BrokenSettle broken) {
        return new BrokenSource(store) {
            @Override
            public Unchanged settle(List<Settlement> settlements) {
                synchronized (store) {
                    return broken.settle(this, settlements);
                }
            }
        };
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return honestClaim(request);
    }

    final Claim honestClaim(ClaimRequest request) {
        return honest.claim(request);
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        return honestSettle(settlements);
    }

    final Unchanged honestSettle(List<Settlement> settlements) {
        return honest.settle(settlements);
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        return honest.renew(leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return honest.nextDue(topics);
    }

    List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        store.rows().forEach(rows::add);
        return rows;
    }

    Row row(Lease lease) {
        return store.row(lease.itemId());
    }

    /** The unfinished row of this key with the lowest sequence. */
    Row head(Row of) {
        return rows().stream()
                .filter(row -> !row.isFinished() && of.key().equals(row.key()))
                .findFirst()
                .orElseThrow();
    }

    /** Runs something that takes these rows for Done. */
    <T> T blindTo(Predicate<Row> hidden, Supplier<T> action) {
        synchronized (store) {
            Map<Row, Status> before = new HashMap<>();
            rows().stream().filter(hidden).toList().forEach(row -> {
                before.put(row, row.status);
                row.status = Status.DONE;
            });
            try {
                return action.get();
            } finally {
                before.forEach((row, status) -> row.status = status);
            }
        }
    }
}
