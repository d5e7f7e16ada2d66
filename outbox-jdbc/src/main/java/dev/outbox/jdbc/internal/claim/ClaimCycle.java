package dev.outbox.jdbc.internal.claim;

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

    /** Ends leases that ran out. */
    public interface Expire {
        Expired run(Connection connection, ClaimRequest request) throws SQLException;
    }

    /**
     * The items whose leases a search ended, without their payloads.
     *
     * @param reclaimed they are Ready again
     * @param dead they have no attempt left
     */
    public record Expired(List<WorkItem> reclaimed, List<WorkItem> dead) {
        private static final Expired NONE = new Expired(List.of(), List.of());

        /** Reads rows that have the columns that name an item, and its status. */
        public static Expired read(ResultSet rows) throws SQLException {
            Expired expired = new Expired(new ArrayList<>(), new ArrayList<>());
            while (rows.next()) {
                (rows.getInt("status") == 3 ? expired.dead : expired.reclaimed).add(WorkItemRow.named(rows));
            }
            return expired;
        }

        private int size() {
            return reclaimed.size() + dead.size();
        }
    }

    /** Leases items. */
    public interface Query {
        ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException;
    }

    /** Settles them. */
    public interface Settle {
        Unchanged run(Connection connection, List<Settlement> settlements) throws SQLException;
    }

    private final Expire expire;
    private final int expiredBatch;
    private final Query query;
    private final Settle settle;
    private final LongSupplier ticker;

    private boolean expiredBefore;
    private long expiredAt;
    private long expireCost;

    /** @param expiredBatch the most leases that one search ends */
    public ClaimCycle(Expire expire, int expiredBatch, Query query, Settle settle, LongSupplier ticker) {
        this.expire = expire;
        this.expiredBatch = expiredBatch;
        this.query = query;
        this.settle = settle;
        this.ticker = ticker;
    }

    public Claim claim(Connection connection, ClaimRequest request) throws SQLException {
        Expired expired = Expired.NONE;
        if (expireIsDue(request.lease())) {
            long start = ticker.getAsLong();
            expired = expire.run(connection, request);
            expiredBefore = expired.size() < expiredBatch;
            expiredAt = ticker.getAsLong();
            expireCost = expiredAt - start;
        }
        ClaimedRows claimed = query.run(connection, request);
        List<WorkItem> dead = new ArrayList<>(expired.dead());
        List<WorkItem> items = new ArrayList<>(claimed.items());
        for (Unreadable row : claimed.unreadable()) {
            Lease lease = new Lease(row.item().id(), claimed.ownerToken());
            Settlement verdict = Settlement.dead(lease, "row cannot be read: " + row.error(), request.onDead());
            if (settle.run(connection, List.of(verdict)).isEmpty()) { // else its lease ends, and it is found again
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
