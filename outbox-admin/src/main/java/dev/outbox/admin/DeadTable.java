package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.DeadLetterStatements;
import dev.outbox.admin.internal.DeadLetterStatements.EndOfKeyStatements;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.postgres.KeyLocks;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The dead letters of one table. */
final class DeadTable {
    /** The earliest and the latest time that both databases can hold. */
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");
    private static final String LOWEST = "00000000-0000-0000-0000-000000000000";
    private static final String HIGHEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

    private final AdminSession session;
    private final AdminTable table;
    private final DeadLetterStatements sql;

    DeadTable(AdminSession session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.dialect().deadLetters();
    }

    AdminTable table() {
        return table;
    }

    /** @param atLeast whether counting stopped at {@code found} */
    record Count(long found, long requeueable, boolean atLeast) {}

    /** Where a list continues after this item: the time when it died, if that is known, and its id. */
    static String position(Item item) {
        return (item.processedOn() == null ? "" : item.processedOn()) + "/"
                + item.ref().id();
    }

    /** Items whose time of death is unknown come last, and are read only when there are no others left. */
    List<Item> newest(DeadFilter filter, @Nullable String after, int size) throws SQLException {
        Place place = Place.of(after, LATEST, HIGHEST);
        List<Item> found = new ArrayList<>();
        if (place.at != null) {
            try (Query query = filtered(sql.newest(), filter).set("older_than", filter.olderThan())) {
                query.set("at", Timestamps.write(place.at)).set("id", place.id).set("size", size);
                found.addAll(AdminSession.list(query, row -> ItemRow.read(row, table.kind())));
            }
        }
        if (found.size() < size) {
            try (Query query = filtered(sql.newestUnknown(), filter)) {
                query.set("id", place.at == null ? place.id : HIGHEST).set("size", size - found.size());
                found.addAll(AdminSession.list(query, row -> ItemRow.read(row, table.kind())));
            }
        }
        return found;
    }

    List<Item> oldest(DeadFilter filter, @Nullable String after, int size) throws SQLException {
        Place place = Place.of(after, EARLIEST, LOWEST);
        try (Query query = filtered(sql.oldest(), filter).set("older_than", filter.olderThan())) {
            query.set("at", Timestamps.write(place.at == null ? EARLIEST : place.at))
                    .set("id", place.at == null ? LOWEST : place.id)
                    .set("unknown_id", place.at == null ? place.id : after == null ? LOWEST : HIGHEST)
                    .set("size", size);
            return AdminSession.list(query, row -> ItemRow.read(row, table.kind()));
        }
    }

    /**
     * Where a list continues.
     *
     * @param at when the item before died; null if that is unknown
     */
    private record Place(@Nullable Instant at, String id) {
        static Place of(@Nullable String after, Instant start, String startId) {
            if (after == null) {
                return new Place(start, startId);
            }
            int slash = after.indexOf('/');
            if (slash < 0) {
                throw Page.malformed(after);
            }
            String id = new ItemRef(TableKind.OUTBOX, after.substring(slash + 1)).id();
            return new Place(slash == 0 ? null : instant(after.substring(0, slash)), id);
        }
    }

    private static Instant instant(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException notOne) {
            throw Page.malformed(text);
        }
    }

    Count count(DeadFilter filter, @Nullable Duration window, int most) throws SQLException {
        try (Query query = filtered(sql.count(), filter)) {
            query.set("older_than", filter.olderThan()).set("window", window).set("most", most);
            return AdminSession.one(
                    query,
                    row -> new Count(row.getLong("found"), row.getLong("requeueable"), row.getLong("found") == most));
        }
    }

    private Query filtered(String statement, DeadFilter filter) throws SQLException {
        return session.query(table, statement)
                .set("topic", session.text(filter.topic()))
                .set("key", session.text(filter.key()))
                .set("tenant", session.text(filter.tenant()))
                .set("error", session.text(filter.error()));
    }

    /**
     * Where skipped items go to the end of their keys, this locks the keys first, because the requeue must see what was
     * committed before it had the locks, and must not wait for a key while it holds rows.
     *
     * @param batch at most {@link KeyLocks#MOST}
     * @param before how many items this action has requeued already; they are due first
     */
    Set<ItemRef> requeue(List<Item> batch, Requeue how, @Nullable Duration window, long before) throws SQLException {
        Optional<EndOfKeyStatements> endOfKey = sql.endOfKey();
        if (endOfKey.isEmpty() || batch.stream().allMatch(item -> item.key() == null)) {
            try (Query query = requeuing(batch, how, window, before)) {
                return changed(query);
            }
        }
        return session.inTransaction(() -> {
            lockKeys(batch, endOfKey.get().lockKeys());
            Set<ItemRef> requeued = new HashSet<>();
            try (Query query = requeuing(batch, how, window, before);
                    ResultSet rows = query.rows();
                    Query move = session.query(table, endOfKey.get().moveToEnd())) {
                while (rows.next()) {
                    ItemRef ref = ref(rows);
                    requeued.add(ref);
                    if (rows.getBoolean("moves")) {
                        move.set("id", ref.id()).add();
                    }
                }
                move.updateAll();
            }
            return requeued;
        });
    }

    private void lockKeys(List<Item> batch, String statement) throws SQLException {
        KeyLocks locks = new KeyLocks(table.name());
        Object[] numbers = batch.stream()
                .map(Item::key)
                .filter(Objects::nonNull)
                .map(locks::of)
                .distinct()
                .sorted()
                .toArray();
        try (Query query = session.query(table, statement)) {
            query.set("entering", locks.entering())
                    .set("holding", locks.holding())
                    .setArray("locks", "int8", numbers);
            query.execute();
        }
    }

    private Query requeuing(List<Item> batch, Requeue how, @Nullable Duration window, long before) throws SQLException {
        return audited(sql.requeue(), batch, how.actor(), how.reason())
                .set("window", window)
                .set("delay", how.delay())
                .set("spacing", how.rate() == Requeue.ALL_AT_ONCE ? 0L : 1_000_000L / how.rate())
                .set("before", before);
    }

    Set<ItemRef> discard(List<Item> batch, Discard how) throws SQLException {
        String statement = table.kind() == TableKind.OUTBOX ? sql.discardOutbox() : sql.discardInbox();
        try (Query query = audited(statement, batch, how.actor(), how.reason())) {
            if (table.kind() == TableKind.INBOX) {
                List<Instant> died = batch.stream()
                        .map(Item::processedOn)
                        .filter(Objects::nonNull)
                        .sorted()
                        .toList();
                query.set("first", Timestamps.write(died.isEmpty() ? EARLIEST : died.get(0)))
                        .set("last", Timestamps.write(died.isEmpty() ? EARLIEST : died.get(died.size() - 1)));
            }
            return changed(query);
        }
    }

    private Query audited(String statement, List<Item> batch, String actor, String reason) throws SQLException {
        return session.query(table, statement)
                .set("ids", batch.stream().map(item -> item.ref().id()).collect(Collectors.joining(",")))
                .set("actor", session.text(actor))
                .set("reason", session.text(reason))
                .set("table_name", session.text(table.name().toString()));
    }

    private Set<ItemRef> changed(Query query) throws SQLException {
        return new HashSet<>(AdminSession.list(query, this::ref));
    }

    private ItemRef ref(ResultSet row) throws SQLException {
        return new ItemRef(table.kind(), row.getString("id").toLowerCase(Locale.ROOT));
    }
}
