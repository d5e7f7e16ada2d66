package dev.outbox.torture;

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

/** Does what the honest source does; a mutant overrides what it breaks. */
class ForwardingSource implements TransactionalSource {
    private final TransactionalSource honest;

    ForwardingSource(TransactionalSource honest) {
        this.honest = honest;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return honest.claim(request);
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        return honest.settle(settlements);
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        return honest.settle(tx, settlements);
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        return honest.renew(leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return honest.nextDue(topics);
    }

    @Override
    public int purge() {
        return honest.purge();
    }

    @Override
    public void heartbeat(Heartbeat heartbeat) {
        honest.heartbeat(heartbeat);
    }

    @Override
    public Transaction begin() {
        return honest.begin();
    }
}
