package dev.outbox.delivery;

import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * How long the settling thread waits for more verdicts, so that a slow destination's come together in one statement. It waits
 * only while other deliveries are under way and nothing waits for the settle: no key that it frees, no worker that would
 * run out of items because there is no room to claim more. So it delays no delivery.
 */
final class SettleLinger {
    static final Duration LONGEST = Duration.ofMillis(5);

    /** So many in one statement cost hardly less each than more of them. */
    static final int ENOUGH = 50;

    /** With so many items the workers stay busy until the next claim. */
    private final long busy;

    /** @param atOnce how many items the workers deliver at a time */
    SettleLinger(long atOnce) {
        this.busy = 2 * atOnce;
    }

    /**
     * How much longer to wait, in nanoseconds; not more than zero to settle now.
     *
     * @param queued the verdicts to be settled
     * @param leased how many items are leased, these included
     * @param roomWanted whether a claim waits until fewer are
     * @param waited since the first of them came, in nanoseconds
     */
    long left(Collection<List<Verdict>> queued, int leased, boolean roomWanted, long waited) {
        int verdicts = 0;
        for (List<Verdict> group : queued) {
            verdicts += group.size();
            if (verdicts >= ENOUGH || isUrgent(group)) {
                return 0;
            }
        }
        int undecided = leased - verdicts;
        return verdicts == 0 || undecided <= 0 || (roomWanted && undecided <= busy) ? 0 : LONGEST.toNanos() - waited;
    }

    /** A settle that frees a key, or gives an item back. */
    private static boolean isUrgent(List<Verdict> group) {
        for (Verdict verdict : group) {
            if (verdict.settlement().kind() != Settlement.Kind.DONE
                    || (verdict.run().isKeyed() && verdict.run().peek() == null)) {
                return true;
            }
        }
        return false;
    }
}
