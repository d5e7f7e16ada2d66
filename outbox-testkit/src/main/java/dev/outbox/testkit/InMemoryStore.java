package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import dev.outbox.internal.UuidV7;
import dev.outbox.spi.Source;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A store of work items in memory, for tests without a database. Several sources, one per poller, can work on one store.
 * Done items stay. It is simple rather than fast: every claim looks at every row. Thread-safe.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * InMemoryStore store = new InMemoryStore(clock);
 * store.add(Message.to("orders.placed").payload("{}"));
 * Source source = store.source();
 * }</pre>
 */
public final class InMemoryStore {
    final Clock clock;

    /** By id, in the order of their sequence. Guarded by this store. */
    private final Map<String, Row> rows = new LinkedHashMap<>();

    /** Rows that a transaction beside the sources has locked. Guarded by this store. */
    final Set<String> locked = new HashSet<>();

    private long lastSequence;

    /** The rows that were finished so far. */
    private long finished;

    /** @param clock the clock that decides when an item is due and when a lease has run out */
    public InMemoryStore(Clock clock) {
        this.clock = Require.present("clock", clock);
    }

    /**
     * Stores messages in this order.
     *
     * @return the ids of their work items
     * @throws IllegalArgumentException if one has no payload; nothing was stored
     */
    public List<String> add(Message... messages) {
        return add(List.of(messages));
    }

    /** Stores a list of messages, as {@link #add(Message...)} does. */
    public synchronized List<String> add(List<Message> messages) {
        for (Message message : messages) {
            if (!message.hasPayload()) {
                throw new IllegalArgumentException(message + " has no payload; set one, it may be empty");
            }
        }
        List<String> ids = new ArrayList<>();
        for (Message message : messages) {
            Row row = new Row(UuidV7.next().toString(), ++lastSequence, message, clock.instant());
            rows.put(row.id, row);
            ids.add(row.id);
        }
        return ids;
    }

    /** The current state of every item, in the order of their sequence. */
    public synchronized List<ItemState> items() {
        return rows.values().stream().map(Row::state).toList();
    }

    /** The current state of one item. */
    public synchronized Optional<ItemState> find(String itemId) {
        return Optional.ofNullable(rows.get(itemId)).map(Row::state);
    }

    /**
     * Makes a Dead item Ready and due now, resets its attempts, and counts its age from now. If its key has gone on without
     * it, the item goes to the end of the key with a new sequence; if it blocks its key, it keeps its place.
     *
     * @return whether it was Dead
     */
    public synchronized boolean requeue(String itemId) {
        Row row = rows.get(itemId);
        if (row == null || row.status != Status.DEAD) {
            return false;
        }
        if (row.key() != null && !row.blocksKey) {
            rows.remove(itemId);
            row.sequence = ++lastSequence;
            rows.put(itemId, row);
        }
        return requeueInPlace(itemId);
    }

    /** The same without a new sequence, as a hand-written statement does. */
    synchronized boolean requeueInPlace(String itemId) {
        Row row = rows.get(itemId);
        if (row == null || row.status != Status.DEAD) {
            return false;
        }
        row.ready(clock.instant());
        row.attempts = 0;
        row.firstDue = row.due;
        return true;
    }

    /** Locks items as another transaction would: sources skip them until this is closed. */
    synchronized AutoCloseable lock(Collection<String> itemIds) {
        List<String> ids = List.copyOf(itemIds);
        locked.addAll(ids);
        return () -> unlock(ids);
    }

    private synchronized void unlock(Collection<String> itemIds) {
        locked.removeAll(itemIds);
    }

    /** Whether the row is locked; the caller holds this store's monitor. */
    boolean isLocked(Row row) {
        return locked.contains(row.id);
    }

    /** Removes Done items that were finished longer ago than this. */
    synchronized long purge(Duration olderThan) {
        long before = rows.size();
        Instant end = clock.instant().minus(olderThan);
        rows.values().removeIf(row -> row.status == Status.DONE && row.finishedOn.isBefore(end));
        return before - rows.size();
    }

    /** The message with an id: its own, or a new one. */
    static Message identified(Message message) {
        if (!message.hasPayload()) {
            throw new IllegalArgumentException(message + " has no payload; set one, it may be empty");
        }
        return message.id() == null ? message.id(UuidV7.next().toString()) : message;
    }

    /** The message ids of all items. */
    synchronized Set<String> messageIds() {
        return rows.values().stream().map(row -> row.item().messageId()).collect(Collectors.toSet());
    }

    /** All items as assertions see them. */
    synchronized List<ItemRow> rowsNow() {
        Instant now = clock.instant();
        return rows.values().stream().map(row -> row.seenAt(now)).toList();
    }

    /** Notes that a row is finished; the caller holds this store's monitor. */
    void finish(Row row) {
        row.finished = ++finished;
        row.finishedOn = clock.instant();
    }

    /** A new source over this store, for one poller. */
    public Source source() {
        return new InMemorySource(this);
    }

    /** The live rows in the order of their sequence; the caller holds this store's monitor. */
    Iterable<Row> rows() {
        return rows.values();
    }

    /** The unfinished rows of each key, with Dead ones that block it; the caller holds this store's monitor. */
    Map<String, List<Row>> unfinishedByKey() {
        Map<String, List<Row>> byKey = new LinkedHashMap<>();
        for (Row row : rows()) {
            String key = row.key();
            if (key != null && (!row.isFinished() || row.blocksKey)) {
                byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(row);
            }
        }
        return byKey;
    }

    /** The live row, or null; the caller holds this store's monitor. */
    @Nullable
    Row row(String itemId) {
        return rows.get(itemId);
    }

    /** One work item with its lease. Guarded by its store. */
    static final class Row {
        final String id;
        long sequence;
        final Message message;
        final Instant createdOn;
        Status status = Status.READY;
        int attempts;
        boolean blocksKey;
        Instant due;

        /** The time that its age counts from: no retry, release or expired lease changes it. */
        Instant firstDue;

        @Nullable
        String ownerToken;

        Instant lockedUntil = Instant.MIN;

        @Nullable
        String lastError;

        /** Its place among the finished rows; 0 while it is not finished. */
        long finished;

        Instant finishedOn = Instant.MAX;

        Row(String id, long sequence, Message message, Instant now) {
            this.id = id;
            this.sequence = sequence;
            this.message = message;
            this.createdOn = now;
            this.due = dueOf(message, now);
            this.firstDue = due.isBefore(now) ? now : due;
        }

        private static Instant dueOf(Message message, Instant now) {
            Instant due = message.due();
            Duration dueIn = message.dueIn();
            if (due != null) {
                return due;
            }
            return dueIn == null ? now : now.plus(dueIn);
        }

        @Nullable
        String key() {
            return message.key();
        }

        boolean isFinished() {
            return status == Status.DONE || status == Status.DEAD;
        }

        boolean isEligible(Instant now) {
            return status == Status.READY && !due.isAfter(now);
        }

        boolean isLeased(Instant now) {
            return status == Status.PROCESSING && lockedUntil.isAfter(now);
        }

        boolean isHeldUnder(String token) {
            return status == Status.PROCESSING && token.equals(ownerToken);
        }

        void leaseTo(String token, Instant until) {
            status = Status.PROCESSING;
            ownerToken = token;
            lockedUntil = until;
            attempts++;
        }

        void ready(Instant due) {
            endLease(Status.READY);
            this.due = due;
        }

        void endLease(Status next) {
            status = next;
            blocksKey = false;
            ownerToken = null;
            lockedUntil = Instant.MIN;
        }

        WorkItem item() {
            return new WorkItem(id, sequence, attempts, createdOn, firstDue, null, message);
        }

        /** Without its payload. */
        WorkItem named() {
            return new WorkItem(
                    id,
                    sequence,
                    attempts,
                    createdOn,
                    Message.to(message.topic()).key(key()).payload(""));
        }

        int size() {
            return message.hasPayload() ? message.payloadBytes().length : 0;
        }

        ItemRow seenAt(Instant now) {
            WorkItem item = item();
            boolean waits = (status == Status.READY && due.isAfter(now)) || isLeased(now);
            return new ItemRow(
                    sequence, item.messageId(), item.topic(), key(), status, attempts, finished, waits, lastError);
        }

        ItemState state() {
            return new ItemState(id, status, attempts, lastError);
        }
    }
}
