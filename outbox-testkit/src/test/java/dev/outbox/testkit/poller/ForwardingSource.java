package dev.outbox.testkit.poller;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Passes everything on. */
class ForwardingSource implements Source {
    private final Source source;

    ForwardingSource(Source source) {
        this.source = source;
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
}
