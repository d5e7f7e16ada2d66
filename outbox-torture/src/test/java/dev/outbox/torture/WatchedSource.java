package dev.outbox.torture;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** A source that writes down what it is answered, and dies where the plan says so. */
record WatchedSource(
        TransactionalSource source, History history, Step.Plan plan, Map<Connection, Uncommitted> uncommitted)
        implements TransactionalSource {
    WatchedSource(TransactionalSource source, History history, Step.Plan plan) {
        this(source, history, plan, new ConcurrentHashMap<>());
    }

    @Override
    public Claim claim(ClaimRequest request) {
        plan.at(Step.BEFORE_CLAIM);
        Claim claim = source.claim(request);
        if (!claim.items().isEmpty()) {
            plan.at(Step.AFTER_CLAIM);
        }
        if (claim.items().size() > request.count()) {
            history.write("overclaimed", request.count(), claim.items().size());
        }
        return claim;
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        plan.at(Step.BEFORE_SETTLE);
        Unchanged unchanged;
        try {
            unchanged = source.settle(settlements);
        } catch (RuntimeException e) {
            history.writeLines(lines(settlements, lease -> "unsure"));
            throw e;
        }
        List<Settlement> answered = settlements.stream()
                .filter(settlement -> !unchanged.locked().contains(settlement.lease()))
                .toList();
        history.writeLines(lines(answered, answers(unchanged.lost())));
        plan.at(Step.AFTER_SETTLE);
        return unchanged;
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        plan.at(Step.BEFORE_SETTLE);
        Set<Lease> fenced = source.settle(tx, settlements);
        uncommitted.put(tx, new Uncommitted(settlements, fenced));
        plan.at(Step.AFTER_SETTLE);
        return fenced;
    }

    /** What was settled in a transaction that is not over. */
    record Uncommitted(List<Settlement> settlements, Set<Lease> fenced) {}

    private static Function<Lease, String> answers(Set<Lease> fenced) {
        return lease -> fenced.contains(lease) ? "fenced" : "settled";
    }

    private static StringBuilder lines(List<Settlement> settlements, Function<Lease, String> answer) {
        StringBuilder lines = new StringBuilder();
        for (Settlement settlement : settlements) {
            Lease lease = settlement.lease();
            lines.append(answer.apply(lease))
                    .append(' ')
                    .append(lease.itemId())
                    .append(' ')
                    .append(lease.ownerToken())
                    .append('\n');
        }
        return lines;
    }

    @Override
    public Transaction begin() {
        Transaction transaction = source.begin();
        return new Transaction() {
            @Override
            public Connection connection() {
                return transaction.connection();
            }

            @Override
            public void commit() throws SQLException {
                plan.at(Step.BEFORE_COMMIT);
                Uncommitted settled = uncommitted.remove(connection());
                try {
                    transaction.commit();
                } catch (SQLException | RuntimeException e) {
                    write(settled, lease -> "unsure");
                    throw e;
                }
                write(settled, settled == null ? lease -> "" : answers(settled.fenced()));
                plan.at(Step.AFTER_COMMIT);
            }

            @Override
            public void close() throws SQLException {
                uncommitted.remove(connection());
                transaction.close();
            }
        };
    }

    private void write(Uncommitted settled, Function<Lease, String> answer) {
        if (settled != null) {
            history.writeLines(lines(settled.settlements(), answer));
        }
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        long asked = System.currentTimeMillis();
        Unchanged unchanged = source.renew(leases, length);
        StringBuilder lines = new StringBuilder();
        for (Lease lease : leases) {
            if (!unchanged.lost().contains(lease) && !unchanged.locked().contains(lease)) {
                lines.append("renewed %s %s %d%n".formatted(lease.itemId(), lease.ownerToken(), asked));
            }
        }
        history.writeLines(lines);
        return unchanged;
    }

    @Override
    public int purge() {
        return source.purge();
    }

    @Override
    public void heartbeat(Heartbeat heartbeat) {
        source.heartbeat(heartbeat);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return source.nextDue(topics);
    }
}
