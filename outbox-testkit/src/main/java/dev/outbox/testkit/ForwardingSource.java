package dev.outbox.testkit;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Passes every call on to another source. Override what your test wants to watch, to delay or to break. Thread-safe if the
 * other one is.
 */
public abstract class ForwardingSource implements Source {
    private final Source source;

    /** @param source the one that is called */
    protected ForwardingSource(Source source) {
        this.source = source;
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public Object queue() {
        return source.queue();
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return source.claim(request);
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        return source.settle(settlements);
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        return source.renew(leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return source.nextDue(topics);
    }

    @Override
    public int purge() {
        return source.purge();
    }

    @Override
    public void heartbeat(Heartbeat heartbeat) {
        source.heartbeat(heartbeat);
    }
}
