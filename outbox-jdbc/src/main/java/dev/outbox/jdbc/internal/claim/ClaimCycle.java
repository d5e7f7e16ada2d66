package dev.outbox.jdbc.internal.claim;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.ClaimedRows.Unreadable;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A claim with what goes before and after it: on a timer, a search for leases that ran out; and rows that cannot be
 * read as messages become Dead. The statements are the database's.
 *
 * <p>Not thread-safe: one poller, one claim at a time.
 */
public final class ClaimCycle {
    private static final Duration LONGEST_BETWEEN_SEARCHES = Duration.ofMinutes(1);

    /** What a claim asks a database for. */
    public interface Statements {
        /** Ends a batch of leases that ran out. */
        Expired expire(Connection connection, ClaimRequest request) throws SQLException;

        /** Leases items. */
        ClaimedRows claim(Connection connection, ClaimRequest request) throws SQLException;

        Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException;
    }

    /**
     * The items whose leases a search ended, without their payloads.
     *
     * @param reclaimed they are Ready again
     * @param dead they have no attempt left
     * @param more whether more leases may have run out
     */
    public record Expired(List<WorkItem> reclaimed, List<WorkItem> dead, boolean more) {
        private static final Expired NONE = new Expired(List.of(), List.of(), false);

        /**
         * Reads rows that have the columns that name an item, and its status.
         *
         * @param batch the most rows that there could be
         */
        public static Expired read(ResultSet rows, int batch) throws SQLException {
            List<WorkItem> reclaimed = new ArrayList<>();
            List<WorkItem> dead = new ArrayList<>();
            while (rows.next()) {
                (rows.getInt("status") == Status.DEAD.code() ? dead : reclaimed).add(WorkItemRow.named(rows));
            }
            return new Expired(reclaimed, dead, reclaimed.size() + dead.size() == batch);
        }
    }

    private final Statements statements;
    private final LongSupplier ticker;

    private boolean expiredBefore;
    private long expiredAt;
    private long expireCost;

    public ClaimCycle(Statements statements, LongSupplier ticker) {
        this.statements = statements;
        this.ticker = ticker;
    }

    public Claim claim(Connection connection, ClaimRequest request) throws SQLException {
        Expired expired = Expired.NONE;
        if (expireIsDue(request.lease())) {
            long start = ticker.getAsLong();
            expired = statements.expire(connection, request);
            expiredBefore = !expired.more();
            expiredAt = ticker.getAsLong();
            expireCost = expiredAt - start;
        }
        ClaimedRows claimed = statements.claim(connection, request);
        List<WorkItem> dead = new ArrayList<>(expired.dead());
        List<WorkItem> items = new ArrayList<>(claimed.items());
        for (Unreadable row : claimed.unreadable()) {
            Lease lease = new Lease(row.item().id(), claimed.ownerToken());
            Settlement verdict = Settlement.dead(lease, "row cannot be read: " + row.error(), request.onDead());
            if (statements
                    .settle(connection, List.of(verdict))
                    .isEmpty()) { // else its lease ends, and it is found again
                dead.add(row.item());
            }
            if (verdict.holdsBackItsKey() && row.key() != null) { // and has given the rest of its run back
                items.removeIf(item -> row.key().equals(item.key())
                        && item.sequence() > row.item().sequence());
            }
        }
        boolean more = claimed.more() || !expiredBefore;
        return new Claim(claimed.ownerToken(), claimed.at(), items, dead, expired.reclaimed(), more);
    }

    /** A search that turns out slow is made rarer, so that it takes a twentieth of the time, up to a minute. */
    private boolean expireIsDue(Duration lease) {
        long rarer = Math.min(20 * expireCost, LONGEST_BETWEEN_SEARCHES.toNanos());
        return !expiredBefore || ticker.getAsLong() - expiredAt >= Math.max(lease.toNanos() / 4, rarer);
    }
}
