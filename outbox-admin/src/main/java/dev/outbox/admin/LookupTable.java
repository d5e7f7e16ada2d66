package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
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
        List<Item> found = new ArrayList<>(byIds(refs, sql.byIds()));
        if (found.size() < refs.size() && table.box() == Box.INBOX) {
            found.addAll(byIds(refs, sql.recordsByIds()));
        }
        return found;
    }

    private List<Item> byIds(List<ItemRef> refs, String statement) throws SQLException {
        try (Query query = session.query(table, statement)) {
            query.set("ids", refs.stream().map(ItemRef::id).collect(Collectors.joining(",")));
            return Session.list(query, row -> ItemRow.read(row, table.box()));
        }
    }

    Optional<ItemDetail> detail(ItemRef ref, boolean withPayload) throws SQLException {
        Optional<ItemDetail> found = detail(ref, withPayload ? sql.payload() : sql.detail(), withPayload);
        return found.isPresent() || table.box() == Box.OUTBOX ? found : detail(ref, sql.recordDetail(), withPayload);
    }

    private Optional<ItemDetail> detail(ItemRef ref, String statement, boolean withPayload) throws SQLException {
        try (Query query = session.query(table, statement)) {
            query.set("id", ref.id());
            return Session.list(query, row -> ItemRow.detail(row, table.box(), withPayload)).stream()
                    .findFirst();
        }
    }

    /** @param after the sequence of the last one that was seen; 0 at the start */
    List<Item> by(Lookup.By by, String value, long after, int size) throws SQLException {
        String column = session.flavor().searched(by);
        requireIndex(by, column);
        try (Query query = session.query(table.sql(sql.by(), column))) {
            query.set("value", session.text(session.flavor().searched(by, value)))
                    .set("after", after)
                    .set("size", size);
            return Session.list(query, row -> ItemRow.read(row, table.box()));
        }
    }

    private void requireIndex(Lookup.By by, String column) throws SQLException {
        if (session.isIndexed(table.box(), column)) {
            return;
        }
        String quoted = table.column(column);
        try (Query indexed = session.query(table, sql.indexed())) {
            indexed.set("table", session.text(table.layout().table()))
                    .set("column", session.text(quoted.substring(1, quoted.length() - 1)));
            if (Session.one(indexed, row -> row.getBoolean("indexed"))) {
                session.rememberIndexed(table.box(), column);
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
