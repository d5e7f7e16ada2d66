package dev.outbox.testkit;

import dev.outbox.OnDead;
import dev.outbox.Priority;
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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One poller's view of an {@link InMemoryStore}: the rules of a source, written to be read. Every method is
 * one atomic step, because it holds the monitor of the store.
 */
final class InMemorySource implements Source {
    private final InMemoryStore store;

    /** The last key that had its turn; the next claim begins with the key after it. */
    private String cursor = "";

    private int claims;

    InMemorySource(InMemoryStore store) {
        this.store = store;
    }

    @Override
    public Object queue() {
        return store;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        synchronized (store) {
            claims++;
            Instant now = store.clock.instant();
            List<WorkItem> dead = new ArrayList<>();
            List<WorkItem> reclaimed = new ArrayList<>();
            endExpiredLeases(request, now, dead, reclaimed);
            List<Row> picked = pick(request, now);
            List<Row> chosen = fitting(picked, request.maxBytes());
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

    /** What expires again comes back at random times, each time further apart; of a run, its first item does. */
    private void putOff(Row row, Instant now) {
        String key = row.key();
        if (row.attempts > 1 && (key == null || isFirst(row, key))) {
            double seconds = ThreadLocalRandom.current().nextDouble() * Math.min(300, Math.pow(2, row.attempts - 2));
            row.due = now.plusMillis((long) (1_000 * seconds));
        }
    }

    private boolean isFirst(Row row, String key) {
        return unfinishedByKey().getOrDefault(key, List.of()).indexOf(row) == 0;
    }

    /** Unkeyed items and keys take turns, and so do the keys among each other, one item at a time. */
    private List<Row> pick(ClaimRequest request, Instant now) {
        List<Row> unkeyed = new ArrayList<>();
        for (Row row : store.rows()) {
            if (row.key() == null && isClaimable(row, request, now)) {
                unkeyed.add(row);
            }
        }
        Iterator<Row> free = byPriority(unkeyed, request.count()).iterator();
        Iterator<Row> ordered = inTurns(claimableRuns(request, now)).iterator();
        List<Row> picked = new ArrayList<>();
        for (int turn = claims; picked.size() < request.count() && (free.hasNext() || ordered.hasNext()); turn++) {
            Iterator<Row> rows = turn % 2 == 0 ? ordered : free;
            if (rows.hasNext()) {
                picked.add(rows.next());
            }
        }
        return picked;
    }

    private boolean isClaimable(Row row, ClaimRequest request, Instant now) {
        return row.isEligible(now) && request.wants(row.message.topic()) && !store.isLocked(row);
    }

    /**
     * What the bytes suffice for: an item is taken while those before it have fewer. Of the items without a key, urgent ones
     * come first and bulk last, but in one claim of ten bulk comes first, and in one of four normal. So large items
     * of one band leave room for the others and get some themselves.
     */
    private List<Row> fitting(List<Row> picked, int maxBytes) {
        Iterator<Row> unkeyed = picked.stream()
                .filter(row -> row.key() == null)
                .sorted(Comparator.comparing(row -> turn(row.message.priority())))
                .iterator();
        List<Row> inOrder = new ArrayList<>(picked);
        inOrder.replaceAll(row -> row.key() == null ? unkeyed.next() : row);
        Set<String> served = new HashSet<>();
        List<Row> fitting = new ArrayList<>();
        long bytes = 0;
        for (Row row : inOrder) {
            if (bytes >= maxBytes) {
                break;
            }
            fitting.add(row);
            bytes += row.size();
            String key = row.key();
            if (key != null && served.add(key) && row.message.priority() != Priority.HIGH) {
                cursor = key;
            }
        }
        return fitting;
    }

    private int turn(Priority priority) {
        boolean isFirst = priority == Priority.BULK ? claims % 10 == 9 : priority == Priority.NORMAL && claims % 4 == 2;
        return isFirst ? -1 : priority.code();
    }

    private boolean urgentKeysAreFirst() {
        return claims % 10 != 4;
    }

    /**
     * Urgent ones first and bulk last, but a tenth of the batch for bulk and a quarter for normal; one at a time, every tenth
     * claim and every fourth. Within a band what was due first comes first, so that an item that fails again and again passes
     * by no other.
     */
    private List<Row> byPriority(List<Row> rows, int count) {
        List<Row> ordered = new ArrayList<>(first(rows, Priority.BULK, (count + claims % 10) / 10));
        ordered.addAll(first(rows, Priority.NORMAL, (count + (claims + 1) % 4) / 4));
        List<Row> rest = new ArrayList<>(rows);
        rest.removeAll(ordered);
        rest.sort(Comparator.comparing((Row row) -> row.message.priority())
                .thenComparing(row -> row.due)
                .thenComparing(row -> row.sequence));
        ordered.addAll(rest);
        return ordered;
    }

    private static List<Row> first(List<Row> rows, Priority priority, int count) {
        return rows.stream()
                .filter(row -> row.message.priority() == priority)
                .limit(count)
                .toList();
    }

    /**
     * Per claimable key the items that may be leased from its head on. Keys whose head is urgent come first, the oldest
     * before the others, and in one claim of ten last; the other keys come from the cursor on.
     */
    private List<List<Row>> claimableRuns(ClaimRequest request, Instant now) {
        TreeMap<String, List<Row>> runs = new TreeMap<>();
        unfinishedByKey().forEach((key, rows) -> {
            if (rows.stream().noneMatch(row -> row.isLeased(now) || row.blocksKey)) {
                List<Row> run = rows.stream()
                        .takeWhile(row -> isClaimable(row, request, now))
                        .toList();
                boolean isSuspect = !run.isEmpty() && run.get(0).attempts > 1; // and no other shall pay for it
                runs.put(key, isSuspect ? run.subList(0, 1) : run);
            }
        });
        List<List<Row>> fromCursor = new ArrayList<>(runs.tailMap(cursor, false).values());
        fromCursor.addAll(runs.headMap(cursor, true).values());
        fromCursor.removeIf(List::isEmpty);
        List<List<Row>> urgent = new ArrayList<>(fromCursor);
        urgent.removeIf(run -> run.get(0).message.priority() != Priority.HIGH);
        urgent.sort(Comparator.comparing(run -> run.get(0).sequence));
        fromCursor.removeAll(urgent);
        fromCursor.addAll(urgentKeysAreFirst() ? 0 : fromCursor.size(), urgent);
        return fromCursor;
    }

    /** Dead rows that block their key included. */
    private Map<String, List<Row>> unfinishedByKey() {
        Map<String, List<Row>> byKey = new LinkedHashMap<>();
        for (Row row : store.rows()) {
            String key = row.key();
            if (key != null && (!row.isFinished() || row.blocksKey)) {
                byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(row);
            }
        }
        return byKey;
    }

    /** The first of each run, then the second of each, and so on. */
    private static List<Row> inTurns(List<List<Row>> runs) {
        List<Row> turns = new ArrayList<>();
        int longest = runs.stream().mapToInt(List::size).max().orElse(0);
        for (int turn = 0; turn < longest; turn++) {
            for (List<Row> run : runs) {
                if (turn < run.size()) {
                    turns.add(run.get(turn));
                }
            }
        }
        return turns;
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
            for (List<Row> rows : unfinishedByKey().values()) {
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
