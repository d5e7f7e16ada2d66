package dev.outbox.jdbc.internal.queue;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** A source over a table that a migration may change: each call goes to a source made for the table as it is now. */
final class AdaptingSource implements TransactionalSource {
    private final LiveTable<?> table;
    private final Supplier<? extends TransactionalSource> current;

    AdaptingSource(LiveTable<?> table, Supplier<? extends TransactionalSource> current) {
        this.table = table;
        this.current = current;
    }

    @Override
    public String name() {
        return current.get().name();
    }

    @Override
    public Object queue() {
        return current.get().queue();
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return table.adapting(() -> current.get().claim(request));
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        return table.adapting(() -> current.get().settle(settlements));
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        return current.get().settle(tx, settlements);
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        return table.adapting(() -> current.get().renew(leases, length));
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return table.adapting(() -> current.get().nextDue(topics));
    }

    @Override
    public int purge() {
        return table.adapting(() -> current.get().purge());
    }

    @Override
    public void heartbeat(Heartbeat heartbeat) {
        current.get().heartbeat(heartbeat);
    }

    @Override
    public Optional<String> replacedIsolation() {
        return current.get().replacedIsolation();
    }

    @Override
    public Transaction begin() {
        return current.get().begin();
    }
}
