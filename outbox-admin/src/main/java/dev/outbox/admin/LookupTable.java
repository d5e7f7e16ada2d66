package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.Query;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Searches in one table. */
final class LookupTable {
    /** Without an index, a table with more rows than this is not read. */
    static final int SMALL = 10_000;

    private final Session session;
    private final AdminTable table;
    private final Flavor.LookupSql sql;

    LookupTable(Session session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.flavor().lookup();
    }

    List<Item> byIds(List<ItemRef> refs) throws SQLException {
        try (Query query = session.query(table, sql.byIds())) {
            query.set("ids", refs.stream().map(ItemRef::id).collect(Collectors.joining(",")));
            return Session.list(query, row -> ItemRow.read(row, table.box()));
        }
    }

    Optional<ItemDetail> detail(ItemRef ref, boolean withPayload) throws SQLException {
        try (Query query = session.query(table, withPayload ? sql.payload() : sql.detail())) {
            query.set("id", ref.id());
            return Session.list(query, row -> ItemRow.detail(row, table.box(), withPayload)).stream()
                    .findFirst();
        }
    }

    /** @param after the sequence of the last one that was seen; 0 at the start */
    List<Item> by(Lookup.By by, String value, long after, int size) throws SQLException {
        String column = session.flavor().searched(by);
        requireIndex(by, column);
        Layout layout = table.layout()
                .with("by", Objects.requireNonNull(table.layout().columns().get(column)));
        try (Query query = session.query(layout, sql.by())) {
            query.set("value", session.text(session.flavor().searched(by, value)))
                    .set("after", after)
                    .set("size", size);
            return Session.list(query, row -> ItemRow.read(row, table.box()));
        }
    }

    private void requireIndex(Lookup.By by, String column) throws SQLException {
        String quoted = Objects.requireNonNull(table.layout().columns().get(column));
        try (Query indexed = session.query(table, sql.indexed())) {
            indexed.set("table", session.text(table.layout().table()))
                    .set("column", session.text(quoted.substring(1, quoted.length() - 1)));
            if (Session.one(indexed, row -> row.getBoolean("indexed"))) {
                return;
            }
        }
        try (Query rows = session.query(table, sql.rows())) {
            rows.set("most", SMALL + 1).set("table", session.text(table.layout().table()));
            long counted = Session.one(rows, row -> row.getLong("counted"));
            if (counted <= SMALL) {
                return;
            }
        }
        throw new OutboxException("no index of table \"" + table.name() + "\" has the " + by
                + ", so that all of its rows would have to be read, more than " + SMALL
                + "; create the lookup indexes with OutboxMigrations.installLookup(...), which cost each enqueue a"
                + " little");
    }
}
