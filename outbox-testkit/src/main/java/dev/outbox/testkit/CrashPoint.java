package dev.outbox.testkit;

import dev.outbox.internal.Require;
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

/**
 * A point between claim and settle at which a poller fails, for tests of a source or destination of your own:
 *
 * <pre>{@code
 * Poller poller = Poller.from(CrashPoint.BEFORE_SETTLE.in(store.source())).to(myDestination).build();
 * assertThatThrownBy(poller::pollOnce);               // delivered, but not settled
 * clock.advance(lease);
 * Poller.from(store.source()).to(myDestination).build().pollOnce(); // delivered again
 * }</pre>
 */
public enum CrashPoint {
    /** The process dies between deliver and settle: nothing that it does later reaches the source. */
    BEFORE_SETTLE,
    /** The first settle fails and changes nothing. */
    SETTLE_FAILS,
    /** The first settle changes the rows, but its answer is lost. */
    SETTLE_UNANSWERED,
    /**
     * Another worker takes the items before they are delivered, and the poller does not notice: its renewals and its settle
     * are fenced.
     */
    LEASE_LOST;

    /**
     * A source that fails once at this point and otherwise behaves like the given one. Use it for one poller, whose
     * destination works outside the transaction that settles.
     */
    public Source in(Source source) {
        return new Breaking(this, Require.present("source", source));
    }

    private static final class Breaking implements Source {
        private final CrashPoint point;
        private final Source source;
        private volatile boolean dead;
        private volatile boolean broken;

        Breaking(CrashPoint point, Source source) {
            this.point = point;
            this.source = source;
        }

        @Override
        public Claim claim(ClaimRequest request) {
            checkAlive();
            Claim claim = source.claim(request);
            if (point == LEASE_LOST && !broken && !claim.items().isEmpty()) {
                broken = true;
                source.settle(claim.items().stream()
                        .map(item -> Settlement.release(claim.lease(item), true))
                        .toList());
            }
            return claim;
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            checkAlive();
            if (broken || point == LEASE_LOST) {
                return source.settle(settlements);
            }
            broken = true;
            switch (point) {
                case BEFORE_SETTLE -> {
                    dead = true;
                    checkAlive();
                }
                case SETTLE_FAILS -> throw new IllegalStateException("the settle fails");
                case SETTLE_UNANSWERED -> {
                    source.settle(settlements);
                    throw new IllegalStateException("the answer to the settle is lost");
                }
                default -> throw new IllegalStateException(point + " does not break at a settle");
            }
            return Unchanged.NONE;
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            checkAlive();
            return source.renew(leases, length);
        }

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            checkAlive();
            return source.nextDue(topics);
        }

        private void checkAlive() {
            if (dead) {
                throw new IllegalStateException("this process is dead");
            }
        }
    }
}
