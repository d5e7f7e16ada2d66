package dev.outbox.admin;

import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Timestamps;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The dead letters of one table. */
final class DeadTable {
    /** Before and after any time that both databases can hold. */
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");
    private static final String LOWEST = "00000000-0000-0000-0000-000000000000";
    private static final String HIGHEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

    private final Session session;
    private final AdminTable table;
    private final Flavor.DeadSql sql;

    DeadTable(Session session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.flavor().dead();
    }

    AdminTable table() {
        return table;
    }

    /** @param atLeast whether counting stopped there */
    record Count(long found, long requeueable, boolean atLeast) {}

    /** Where a list goes on after this item: when it died, if that is known, and its id. */
    static String position(Item item) {
        return (item.processedOn() == null ? "" : item.processedOn()) + "/"
                + item.ref().id();
    }

    List<Item> newest(DeadFilter filter, @Nullable String after, int size) throws SQLException {
        try (Query query = filtered(sql.newest(), filter)) {
            place(query, after, LATEST, EARLIEST, HIGHEST);
            return Session.list(query.set("size", size), row -> ItemRow.read(row, table.box()));
        }
    }

    List<Item> oldest(DeadFilter filter, @Nullable String after, int size) throws SQLException {
        try (Query query = filtered(sql.oldest(), filter)) {
            place(query, after, EARLIEST, EARLIEST, LOWEST);
            if (after != null && !after.startsWith("/")) {
                query.set("unknown_id", HIGHEST); // all of those came before
            }
            return Session.list(query.set("size", size), row -> ItemRow.read(row, table.box()));
        }
    }

    /** @param unknown the time to go on from within those whose time is not known */
    private static void place(Query query, @Nullable String after, Instant start, Instant unknown, String startId)
            throws SQLException {
        int slash = after == null ? 0 : after.indexOf('/');
        if (slash < 0) {
            throw Page.malformed(String.valueOf(after));
        }
        String at = after == null ? start.toString() : after.substring(0, slash);
        String id = after == null ? startId : new ItemRef(Box.OUTBOX, after.substring(slash + 1)).id();
        query.set("at", Timestamps.write(at.isEmpty() ? unknown : instant(at)));
        query.set("id", at.isEmpty() ? startId : id);
        query.set("unknown_id", after == null || !at.isEmpty() ? startId : id);
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
            query.set("window", window).set("most", most);
            return Session.one(
                    query,
                    row -> new Count(row.getLong("found"), row.getLong("requeueable"), row.getLong("found") == most));
        }
    }

    private Query filtered(String statement, DeadFilter filter) throws SQLException {
        return session.query(table, statement)
                .set("topic", session.text(filter.topic()))
                .set("key", session.text(filter.key()))
                .set("tenant", session.text(filter.tenant()))
                .set("error", session.text(filter.error()))
                .set("older_than", filter.olderThan());
    }

    /** @param before how many this action has put back already, which are due first */
    Set<ItemRef> requeue(List<Item> batch, Requeue how, @Nullable Duration window, long before) throws SQLException {
        try (Query query = audited(sql.requeue(), batch, how.actor(), how.reason())) {
            query.set("window", window)
                    .set("delay", how.delay())
                    .set("spacing", how.rate() == Requeue.ALL_AT_ONCE ? 0L : 1_000_000L / how.rate())
                    .set("before", before);
            return changed(query);
        }
    }

    Set<ItemRef> discard(List<Item> batch, Discard how) throws SQLException {
        String statement = table.box() == Box.OUTBOX ? sql.discardOutbox() : sql.discardInbox();
        try (Query query = audited(statement, batch, how.actor(), how.reason())) {
            if (table.box() == Box.INBOX) {
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
        return new HashSet<>(Session.list(
                query, row -> new ItemRef(table.box(), row.getString("id").toLowerCase(Locale.ROOT))));
    }
}
