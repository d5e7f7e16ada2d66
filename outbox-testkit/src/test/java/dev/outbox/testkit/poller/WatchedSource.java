package dev.outbox.testkit.poller;

import dev.outbox.OutboxException;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.ForwardingSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Writes down what a poller asks for, and lets a test step in before it is answered. */
final class WatchedSource extends ForwardingSource {
    /** What a source whose database is down does. */
    static final Runnable DOWN = () -> {
        throw new OutboxException("the database is down");
    };

    private static final Runnable NOTHING = () -> {};

    final List<Claim> claims = new CopyOnWriteArrayList<>();
    final List<List<Settlement>> settles = new CopyOnWriteArrayList<>();
    final AtomicInteger claimCalls = new AtomicInteger();
    final AtomicInteger settleCalls = new AtomicInteger();
    final AtomicInteger renewCalls = new AtomicInteger();
    final AtomicInteger nextDueCalls = new AtomicInteger();

    volatile Runnable beforeClaim = NOTHING;
    volatile Runnable afterClaim = NOTHING;
    volatile Runnable beforeSettle = NOTHING;
    volatile Runnable beforeRenew = NOTHING;
    volatile Runnable beforeNextDue = NOTHING;

    WatchedSource(Source source) {
        super(source);
    }

    void down() {
        beforeClaim = DOWN;
        beforeSettle = DOWN;
        beforeRenew = DOWN;
        beforeNextDue = DOWN;
    }

    void up() {
        beforeClaim = NOTHING;
        beforeSettle = NOTHING;
        beforeRenew = NOTHING;
        beforeNextDue = NOTHING;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        claimCalls.incrementAndGet();
        beforeClaim.run();
        Claim claim = super.claim(request);
        claims.add(claim);
        afterClaim.run();
        return claim;
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        settleCalls.incrementAndGet();
        beforeSettle.run();
        Unchanged unchanged = super.settle(settlements);
        settles.add(settlements);
        return unchanged;
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        renewCalls.incrementAndGet();
        beforeRenew.run();
        return super.renew(leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        nextDueCalls.incrementAndGet();
        beforeNextDue.run();
        return super.nextDue(topics);
    }

    /** The settlements of every settle that worked, in order. */
    List<Settlement> settlements() {
        return settles.stream().flatMap(List::stream).toList();
    }
}
