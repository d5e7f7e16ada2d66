package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.postgres.KeyLocks;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The dead letters of outbox and inbox in one view: list, requeue or discard them.
 *
 * <p>Actions work in batches of 250. Each batch and its audit rows are one transaction, so an action that was
 * interrupted is partly done and can be repeated. Actions change Dead items only, and skip those that another
 * transaction has locked. They do not wake pollers, which find requeued items when they poll next. Thread-safe.
 */
public final class DeadLetters {
    /** A requeue locks the key of each item, and a transaction locks no more keys than that. */
    private static final int BATCH = KeyLocks.MOST;

    /** A dry run counts no further. */
    private static final int MOST_COUNTED = 100_000;

    private static final Comparator<Item> NEWEST_FIRST =
            Comparator.comparing(Item::processedOn, Comparator.nullsLast(Comparator.reverseOrder()));

    private final AdminDatabase database;
    private final Duration inboxRetention;

    DeadLetters(AdminDatabase database, Duration inboxRetention) {
        this.database = database;
        this.inboxRetention = inboxRetention;
    }

    /** The dead letters of both tables that match the filter, the newest first. */
    public ItemPage list(DeadFilter filter, Page page) {
        Require.present("filter", filter);
        Require.present("page", page);
        return database.run("list dead letters", (session, tables) -> {
            List<List<Item>> parts = new ArrayList<>();
            for (AdminTable table : tables.ready(filter.kind())) {
                parts.add(new DeadTable(session, table).newest(filter, page.position(table.kind()), page.size() + 1));
            }
            return Merge.of(page, parts, NEWEST_FIRST, DeadTable::position);
        });
    }

    /** An item with its headers, Dead or not; empty if there is none. The payload is not read. */
    public Optional<ItemDetail> show(ItemRef ref) {
        return show(ref, false);
    }

    /** {@link #show} with the payload. */
    public Optional<ItemDetail> showWithPayload(ItemRef ref) {
        return show(ref, true);
    }

    private Optional<ItemDetail> show(ItemRef ref, boolean withPayload) {
        return database.run(
                "show " + ref,
                (session, tables) ->
                        new LookupTable(session, tables.of(ref.kind()).ready()).detail(ref, withPayload));
    }

    /**
     * Makes the dead letters that match the filter Ready again. An item keeps its id; its attempts are reset, and its key is no
     * longer blocked. Its age, which {@code maxAge} of the poller bounds, counts from its new due time. Skips inbox items that
     * came longer ago than {@link Admin.Builder#inboxRetention}, unless forced, and records of received messages, which have
     * no topic and so no handler.
     *
     * <p>An item that blocks its key keeps its place. If the key has gone on without an item, the item gets a new
     * sequence, and so goes to the end of the key. Such items keep their order within a batch; across batches, those
     * that died first go first. To give them their new place, a batch waits for open transactions that stored messages
     * of the same keys: up to 10 s for each, or a shorter {@code lock_timeout} of the connection. After that time the
     * batch fails with a retryable error; the batches before it stay done. On SQL Server such items keep their sequence.
     */
    public ActionResult requeue(DeadFilter filter, Requeue how) {
        return act(filter, new Action.Requeuing(how, inboxRetention));
    }

    /** {@link #requeue(DeadFilter, Requeue)} of these items, in the order of their sequence. Skips those that are not Dead. */
    public ActionResult requeue(Collection<ItemRef> items, Requeue how) {
        return act(items, new Action.Requeuing(how, inboxRetention));
    }

    /**
     * Discards the dead letters that match the filter. An outbox item is removed. An inbox item stays as the record of a
     * received message, without its content, so that the message has no effect when it is redelivered.
     */
    public ActionResult discard(DeadFilter filter, Discard how) {
        return act(filter, new Action.Discarding(how));
    }

    /** Discards these items. Skips those that are not Dead. */
    public ActionResult discard(Collection<ItemRef> items, Discard how) {
        return act(items, new Action.Discarding(how));
    }

    private ActionResult act(DeadFilter filter, Action action) {
        Require.present("filter", filter);
        return database.run(action + " dead letters", (session, tables) -> {
            List<AdminTable> ready = tables.ready(filter.kind());
            return action.dryRun() ? rehearse(session, ready, filter, action) : perform(session, ready, filter, action);
        });
    }

    private static ActionResult rehearse(
            AdminSession session, List<AdminTable> tables, DeadFilter filter, Action action) throws SQLException {
        Tally tally = new Tally(true);
        for (AdminTable table : tables) {
            DeadTable dead = new DeadTable(session, table);
            action.count(dead.count(filter, action.window(table), MOST_COUNTED), tally);
            dead.oldest(filter, null, Tally.SHOWN).forEach(tally::show);
        }
        return tally.result();
    }

    /** Matches only what was Dead at the start, so that an item that dies again meanwhile is not taken twice. */
    private static DeadFilter before(DeadFilter filter, long start) {
        Duration since = Duration.ofNanos(System.nanoTime() - start);
        Duration olderThan = filter.olderThan();
        return filter.olderThan(olderThan == null ? since : olderThan.plus(since));
    }

    private static ActionResult perform(AdminSession session, List<AdminTable> tables, DeadFilter filter, Action action)
            throws SQLException {
        tables.forEach(AdminTable::auditable); // both, before one is changed
        Tally tally = new Tally(false);
        for (AdminTable table : tables) {
            DeadTable dead = new DeadTable(session, table);
            String position = null;
            List<Item> batch;
            long start = System.nanoTime();
            do {
                batch = dead.oldest(before(filter, start), position, BATCH);
                if (!batch.isEmpty()) {
                    position = DeadTable.position(batch.get(batch.size() - 1));
                    tally.add(batch, action.run(dead, batch, tally.count()), action);
                }
            } while (batch.size() == BATCH);
        }
        return tally.result();
    }

    private ActionResult act(Collection<ItemRef> items, Action action) {
        List<ItemRef> refs = Require.present("items", items).stream().distinct().toList();
        return database.run(action + " dead letters", (session, tables) -> {
            Tally tally = new Tally(action.dryRun());
            for (TableKind kind : TableKind.values()) {
                List<ItemRef> here =
                        refs.stream().filter(ref -> ref.kind() == kind).toList();
                if (!here.isEmpty()) {
                    act(session, tables.of(kind), here, action, tally);
                }
            }
            return tally.result();
        });
    }

    /** In the order of their sequence, whatever the order in which they were given. */
    private static void act(AdminSession session, AdminTable table, List<ItemRef> refs, Action action, Tally tally)
            throws SQLException {
        DeadTable dead = new DeadTable(session, action.dryRun() ? table.ready() : table.auditable());
        LookupTable lookup = new LookupTable(session, table);
        List<Item> found = new ArrayList<>();
        for (List<ItemRef> batch : batches(refs)) {
            found.addAll(lookup.byIds(batch));
        }
        found.sort(Comparator.comparingLong(Item::sequence));
        Set<ItemRef> known = found.stream().map(Item::ref).collect(Collectors.toSet());
        refs.stream().filter(ref -> !known.contains(ref)).forEach(ref -> tally.skip(ref, "there is no such item"));
        for (List<Item> batch : batches(found)) {
            Set<ItemRef> changed = action.dryRun() ? action.possible(batch) : action.run(dead, batch, tally.count());
            tally.add(batch, changed, action);
        }
    }

    private static <T> List<List<T>> batches(List<T> all) {
        List<List<T>> batches = new ArrayList<>();
        for (int from = 0; from < all.size(); from += BATCH) {
            batches.add(all.subList(from, Math.min(all.size(), from + BATCH)));
        }
        return batches;
    }
}
