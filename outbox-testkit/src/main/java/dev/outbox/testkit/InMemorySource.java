package dev.outbox.testkit;

import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The source of one poller over an {@link InMemoryStore}: the rules of a source, written to be read. Every method is atomic,
 * because it holds the monitor of the store.
 */
final class InMemorySource implements Source {
    private final InMemoryStore store;
    private final InMemoryClaimOrder order;

    InMemorySource(InMemoryStore store) {
        this.store = store;
        this.order = new InMemoryClaimOrder(store);
    }

    @Override
    public Object queue() {
        return store;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        synchronized (store) {
            Instant now = store.clock.instant();
            List<WorkItem> dead = new ArrayList<>();
            List<WorkItem> reclaimed = new ArrayList<>();
            endExpiredLeases(request, now, dead, reclaimed);
            List<Row> picked = order.pick(request, now);
            List<Row> chosen = order.fitting(picked, request.maxBytes());
            String token = UUID.randomUUID().toString();
            chosen.forEach(row -> row.leaseTo(token, now.plus(request.lease())));
            List<WorkItem> items = chosen.stream()
                    .sorted(Comparator.comparingLong(row -> row.sequence))
                    .map(Row::item)
                    .toList();
            boolean more = items.size() == request.count() || items.size() < picked.size();
            return new Claim(token, now, items, dead, reclaimed, more);
        }
    }

    private void endExpiredLeases(ClaimRequest request, Instant now, List<WorkItem> dead, List<WorkItem> reclaimed) {
        for (Row row : store.rows()) {
            if (row.status != Status.PROCESSING
                    || row.isLeased(now)
                    || store.isLocked(row)
                    || !matches(row, request.topics())) {
                continue;
            }
            if (row.attempts < request.maxAttempts()) {
                putOff(row, now);
                row.endLease(Status.READY);
                reclaimed.add(row.named());
            } else {
                row.endLease(Status.DEAD);
                row.blocksKey = request.onDead() == OnDead.BLOCK;
                row.lastError = "the lease of attempt " + row.attempts + " ran out; the worker died or stalled";
                dead.add(row.named());
            }
        }
    }

    /**
     * An item whose lease expires again is delayed by a random time that grows with each attempt. Of a run, only the first
     * item is delayed.
     */
    private void putOff(Row row, Instant now) {
        String key = row.key();
        if (row.attempts > 1 && (key == null || isFirst(row, key))) {
            double seconds = ThreadLocalRandom.current().nextDouble() * Math.min(300, Math.pow(2, row.attempts - 2));
            row.due = now.plusMillis((long) (1_000 * seconds));
        }
    }

    private boolean isFirst(Row row, String key) {
        return store.unfinishedByKey().getOrDefault(key, List.of()).indexOf(row) == 0;
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        synchronized (store) {
            Instant now = store.clock.instant();
            Set<Lease> lost = new HashSet<>();
            Set<Lease> locked = new HashSet<>();
            Map<Row, String> heldBack = new HashMap<>();
            for (Settlement settlement : settlements) {
                Lease lease = settlement.lease();
                Row row = heldRow(lease);
                if (row == null) {
                    lost.add(lease);
                    continue;
                }
                if (waitsForLock(row, settlements)) {
                    locked.add(lease);
                    continue;
                }
                end(row, settlement, now);
                if (row.isFinished()) {
                    store.finish(row);
                }
                if (settlement.holdsBackItsKey() && row.key() != null) {
                    heldBack.put(row, lease.ownerToken());
                }
            }
            heldBack.forEach(this::giveBackLaterItemsOfTheRun);
            return new Unchanged(lost, locked);
        }
    }

    /** Whether it is locked, or an earlier item of its run that is to be settled with it is. */
    private boolean waitsForLock(Row row, List<Settlement> settlements) {
        return store.isLocked(row)
                || settlements.stream().map(Settlement::lease).anyMatch(lease -> {
                    Row other = heldRow(lease);
                    return other != null
                            && store.isLocked(other)
                            && row.key() != null
                            && Objects.equals(row.key(), other.key())
                            && other.isHeldUnder(String.valueOf(row.ownerToken))
                            && other.sequence < row.sequence;
                });
    }

    private static void end(Row row, Settlement settlement, Instant now) {
        switch (settlement.kind()) {
            case DONE -> row.endLease(Status.DONE);
            case DEAD -> {
                row.endLease(Status.DEAD);
                row.blocksKey = settlement.onDead() == OnDead.BLOCK;
            }
            case RETRY -> row.ready(now.plus(settlement.delay()));
            case RELEASE -> row.endLease(Status.READY);
        }
        if (settlement.error() != null) {
            row.lastError = settlement.error();
        }
        row.attempts -= settlement.attemptsGivenBack();
    }

    private void giveBackLaterItemsOfTheRun(Row first, String token) {
        for (Row row : store.rows()) {
            if (row.sequence > first.sequence
                    && row.isHeldUnder(token)
                    && !store.isLocked(row)
                    && Objects.equals(row.key(), first.key())) {
                row.endLease(Status.READY);
                row.attempts--;
            }
        }
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        synchronized (store) {
            Instant until = store.clock.instant().plus(length);
            Set<Lease> lost = new HashSet<>();
            Set<Lease> locked = new HashSet<>();
            for (Lease lease : leases) {
                Row row = heldRow(lease);
                if (row == null) {
                    lost.add(lease);
                } else if (store.isLocked(row)) {
                    locked.add(lease);
                } else {
                    row.lockedUntil = until;
                }
            }
            return new Unchanged(lost, locked);
        }
    }

    private @Nullable Row heldRow(Lease lease) {
        Row row = store.row(lease.itemId());
        return row != null && row.isHeldUnder(lease.ownerToken()) ? row : null;
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        synchronized (store) {
            Instant now = store.clock.instant();
            List<Row> waiting = new ArrayList<>();
            for (Row row : store.rows()) {
                if (row.key() == null) {
                    waiting.add(row);
                }
            }
            for (List<Row> rows : store.unfinishedByKey().values()) {
                if (rows.stream().noneMatch(row -> row.isLeased(now) || row.blocksKey)) {
                    waiting.add(rows.get(0));
                }
            }
            return waiting.stream()
                    .filter(row -> row.status == Status.READY && row.due.isAfter(now) && matches(row, topics))
                    .map(row -> Duration.between(now, row.due))
                    .min(Comparator.naturalOrder());
        }
    }

    private static boolean matches(Row row, Set<String> topics) {
        return topics.isEmpty() || topics.contains(row.message.topic());
    }
}
