package dev.outbox.examples;

import dev.outbox.Ack;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A source over a table of one's own that knows nothing of leases: fetch what was not sent, acknowledge what
 * was. Leases, attempts and retry times are in memory, so there is one runner: one instance, one poller.
 */
final class SimpleTableSource implements Source {
    private static final String TOPIC = "events";

    private static final String FETCH = """
            SELECT id, entity_id, sequence, message, created_at
            FROM outbox_events
            WHERE sent_at IS NULL AND failed_at IS NULL AND entity_id <> ALL (?)
            ORDER BY sequence, id
            LIMIT ?
            """;

    private static final String DELETE = "DELETE FROM outbox_events WHERE id = ?";

    private static final String MARK_SENT = "UPDATE outbox_events SET sent_at = NOW() WHERE id = ?";

    private static final String MARK_FAILED = """
            UPDATE outbox_events SET failed_at = NOW(), last_error = ? WHERE id = ?
            """;

    private record Held(WorkItem item, String token, Instant until) {}

    private final DataSource dataSource;
    private final String acknowledge;
    private final Clock clock;
    private final Map<String, Held> held = new HashMap<>();
    private final Map<String, Integer> attempts = new HashMap<>();
    private final Map<String, Instant> entitiesWaiting = new HashMap<>();

    SimpleTableSource(DataSource dataSource, Ack ack, Clock clock) {
        this.dataSource = dataSource;
        this.acknowledge = ack == Ack.DELETE ? DELETE : MARK_SENT;
        this.clock = clock;
    }

    @Override
    public synchronized Claim claim(ClaimRequest request) {
        Instant now = clock.instant();
        List<WorkItem> dead = endExpiredLeases(request.maxAttempts(), now);
        List<WorkItem> items = wants(request.topics()) ? fetch(request.count(), now) : List.of();
        String token = UUID.randomUUID().toString();
        for (WorkItem item : items) {
            held.put(item.id(), new Held(item, token, now.plus(request.lease())));
            attempts.put(item.id(), item.attempt());
        }
        return new Claim(token, now, items, dead, items.size() == request.count());
    }

    /** An entity of which something is leased or waits for its retry is left out as a whole. */
    private List<WorkItem> fetch(int count, Instant now) {
        entitiesWaiting.values().removeIf(due -> !due.isAfter(now));
        Set<String> blocked = new HashSet<>(entitiesWaiting.keySet());
        held.values().forEach(lease -> blocked.add(lease.item.key()));
        return onConnection("fetch", connection -> {
            try (PreparedStatement fetch = connection.prepareStatement(FETCH)) {
                fetch.setArray(1, connection.createArrayOf("text", blocked.toArray()));
                fetch.setInt(2, count);
                List<WorkItem> items = new ArrayList<>();
                try (ResultSet row = fetch.executeQuery()) {
                    while (row.next()) {
                        items.add(item(row));
                    }
                }
                return items;
            }
        });
    }

    private WorkItem item(ResultSet row) throws SQLException {
        String id = row.getString("id");
        Message message =
                Message.to(TOPIC).id(id).key(row.getString("entity_id")).payload(row.getString("message"));
        return new WorkItem(
                id,
                row.getLong("sequence"),
                attempts.getOrDefault(id, 0) + 1,
                row.getTimestamp("created_at").toInstant(),
                message);
    }

    /** The poller stalled for longer than its lease. Another attempt, if there is one left. */
    private List<WorkItem> endExpiredLeases(int maxAttempts, Instant now) {
        List<WorkItem> dead = new ArrayList<>();
        for (Iterator<Held> leases = held.values().iterator(); leases.hasNext(); ) {
            Held lease = leases.next();
            if (!lease.until.isAfter(now)) {
                if (lease.item.attempt() >= maxAttempts) {
                    update(MARK_FAILED, "the lease ran out", lease.item.id());
                    attempts.remove(lease.item.id());
                    dead.add(lease.item);
                }
                leases.remove();
            }
        }
        return dead;
    }

    @Override
    public synchronized Unchanged settle(List<Settlement> settlements) {
        Set<Lease> fenced = new HashSet<>();
        List<Settlement> ours = new ArrayList<>();
        for (Settlement settlement : settlements) {
            if (holds(settlement.lease())) {
                ours.add(settlement);
            } else {
                fenced.add(settlement.lease());
            }
        }
        // The table first: if it fails, memory is unchanged and the poller settles the same again.
        ours.forEach(this::write);
        List<Held> reopened = new ArrayList<>();
        for (Settlement settlement : ours) {
            Held lease = held.remove(settlement.lease().itemId());
            String id = lease.item.id();
            if (settlement.kind() == Kind.DONE || settlement.kind() == Kind.DEAD) {
                attempts.remove(id);
                continue;
            }
            reopened.add(lease);
            attempts.put(id, lease.item.attempt() - settlement.attemptsGivenBack());
            if (settlement.kind() == Kind.RETRY) {
                entitiesWaiting.put(lease.item.key(), clock.instant().plus(settlement.delay()));
            }
        }
        reopened.forEach(this::giveBackLaterItems);
        return Unchanged.lost(fenced);
    }

    private void write(Settlement settlement) {
        String id = settlement.lease().itemId();
        switch (settlement.kind()) {
            case DONE -> update(acknowledge, id);
            case DEAD -> update(MARK_FAILED, settlement.error(), id);
            case RETRY, RELEASE -> {} // the row is as it was: not sent
        }
    }

    /** What follows in the entity under the same lease must not overtake: it goes back, unattempted. */
    private void giveBackLaterItems(Held first) {
        held.values().removeIf(lease -> {
            boolean later = lease.token.equals(first.token)
                    && lease.item.key().equals(first.item.key())
                    && lease.item.sequence() > first.item.sequence();
            if (later) {
                attempts.put(lease.item.id(), lease.item.attempt() - 1);
            }
            return later;
        });
    }

    @Override
    public synchronized Unchanged renew(List<Lease> leases, Duration length) {
        Instant until = clock.instant().plus(length);
        Set<Lease> lost = new HashSet<>();
        for (Lease lease : leases) {
            if (holds(lease)) {
                held.computeIfPresent(lease.itemId(), (id, old) -> new Held(old.item, old.token, until));
            } else {
                lost.add(lease);
            }
        }
        return Unchanged.lost(lost);
    }

    @Override
    public synchronized Optional<Duration> nextDue(Set<String> topics) {
        Instant now = clock.instant();
        return entitiesWaiting.values().stream()
                .filter(due -> wants(topics) && due.isAfter(now))
                .map(due -> Duration.between(now, due))
                .min(Comparator.naturalOrder());
    }

    private boolean holds(Lease lease) {
        Held found = held.get(lease.itemId());
        return found != null && found.token.equals(lease.ownerToken());
    }

    private static boolean wants(Set<String> topics) {
        return topics.isEmpty() || topics.contains(TOPIC);
    }

    private void update(String sql, String... parameters) {
        onConnection("settle", connection -> {
            try (PreparedStatement update = connection.prepareStatement(sql)) {
                for (int i = 0; i < parameters.length; i++) {
                    update.setString(i + 1, parameters[i]);
                }
                return update.executeUpdate();
            }
        });
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T onConnection(String what, Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            return work.on(connection);
        } catch (SQLException e) {
            throw new OutboxException(what + " failed: " + e.getMessage(), e, true);
        }
    }
}
