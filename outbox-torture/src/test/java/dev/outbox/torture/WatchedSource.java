package dev.outbox.torture;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A source that writes down what it is answered, and dies where the plan says so. */
record WatchedSource(
        TransactionalSource source, History history, Step.Plan plan, Map<Connection, StringBuilder> uncommitted)
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
    public Set<Lease> settle(List<Settlement> settlements) {
        plan.at(Step.BEFORE_SETTLE);
        Set<Lease> fenced = source.settle(settlements);
        history.writeLines(lines(settlements, fenced));
        plan.at(Step.AFTER_SETTLE);
        return fenced;
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        plan.at(Step.BEFORE_SETTLE);
        Set<Lease> fenced = source.settle(tx, settlements);
        uncommitted.put(tx, lines(settlements, fenced));
        plan.at(Step.AFTER_SETTLE);
        return fenced;
    }

    private static StringBuilder lines(List<Settlement> settlements, Set<Lease> fenced) {
        StringBuilder lines = new StringBuilder();
        for (Settlement settlement : settlements) {
            Lease lease = settlement.lease();
            lines.append(fenced.contains(lease) ? "fenced " : "settled ")
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
                transaction.commit();
                StringBuilder settled = uncommitted.remove(connection());
                if (settled != null) {
                    history.writeLines(settled);
                }
                plan.at(Step.AFTER_COMMIT);
            }

            @Override
            public void close() throws SQLException {
                uncommitted.remove(connection());
                transaction.close();
            }
        };
    }

    @Override
    public Set<Lease> renew(List<Lease> leases, Duration length) {
        return source.renew(leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return source.nextDue(topics);
    }
}
