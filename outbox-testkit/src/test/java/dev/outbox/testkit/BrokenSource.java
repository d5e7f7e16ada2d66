package dev.outbox.testkit;

import dev.outbox.Status;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.InMemoryStore.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** An honest source, whose subclasses change its calls or tamper with its rows. */
class BrokenSource extends ForwardingSource {
    final InMemoryStore store;

    BrokenSource(InMemoryStore store) {
        super(store.source());
        this.store = store;
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

    final Claim honestClaim(ClaimRequest request) {
        return super.claim(request);
    }

    final Unchanged honestSettle(List<Settlement> settlements) {
        return super.settle(settlements);
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
