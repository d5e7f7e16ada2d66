package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.ExactKey;
import dev.outbox.admin.internal.LookupStatements;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Searches in one table. */
final class LookupTable {
    /** Without an index, a table with more rows than this is not read. */
    static final int SMALL = 10_000;

    /** How long an index that was seen is assumed to exist. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final AdminSession session;
    private final AdminTable table;
    private final LookupStatements sql;

    LookupTable(AdminSession session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.dialect().lookup();
    }

    List<Item> byIds(List<ItemRef> refs) throws SQLException {
        List<Item> found = new ArrayList<>(byIds(refs, sql.byIds()));
        if (found.size() < refs.size() && table.kind() == TableKind.INBOX) {
            found.addAll(byIds(refs, sql.recordsByIds()));
        }
        return found;
    }

    private List<Item> byIds(List<ItemRef> refs, String statement) throws SQLException {
        try (Query query = session.query(table, statement)) {
            query.set("ids", refs.stream().map(ItemRef::id).collect(Collectors.joining(",")));
            return AdminSession.list(query, row -> ItemRow.read(row, table.kind()));
        }
    }

    Optional<ItemDetail> detail(ItemRef ref, boolean withPayload) throws SQLException {
        Optional<ItemDetail> found = detail(ref, withPayload ? sql.payload() : sql.detail(), withPayload);
        return found.isPresent() || table.kind() == TableKind.OUTBOX
                ? found
                : detail(ref, sql.recordDetail(), withPayload);
    }

    private Optional<ItemDetail> detail(ItemRef ref, String statement, boolean withPayload) throws SQLException {
        try (Query query = session.query(table, statement)) {
            query.set("id", ref.id());
            return AdminSession.list(query, row -> ItemRow.detail(row, table.kind(), withPayload)).stream()
                    .findFirst();
        }
    }

    /** @param after the sequence of the last one that was seen; 0 at the start */
    List<Item> by(Lookup.By by, String value, long after, int size) throws SQLException {
        ExactKey key = session.dialect().exactKey();
        String column = by == Lookup.By.KEY ? key.column() : by.column();
        requireIndex(by, column);
        try (Query query = session.query(table.sql(sql.by(), column))) {
            query.set("value", session.text(by == Lookup.By.KEY ? value + key.suffix() : value))
                    .set("after", after)
                    .set("size", size);
            return AdminSession.list(query, row -> ItemRow.read(row, table.kind()));
        }
    }

    private void requireIndex(Lookup.By by, String column) throws SQLException {
        if (isIndexed(column)) {
            return;
        }
        try (Query rows = session.query(table, sql.rows())) {
            if (AdminSession.one(rows.set("most", SMALL + 1), row -> row.getLong("counted")) <= SMALL) {
                return;
            }
        }
        throw new OutboxException("table \"" + table.name() + "\" has no index on the " + by
                + ", so the search would have to read all of its rows, more than " + SMALL
                + "; create the lookup indexes with OutboxMigrations.installLookup(...), which cost each enqueue a"
                + " little");
    }

    private boolean isIndexed(String column) throws SQLException {
        Long seen = table.indexed().get(column);
        if (seen != null && System.nanoTime() - seen < FRESH.toNanos()) {
            return true;
        }
        boolean indexed = Catalog.of(session.dialect().database())
                .find(session.connection(), table.name())
                .filter(found -> AdminTable.column(session.dialect(), found, column)
                        .filter(name -> found.indexes().values().stream().anyMatch(index -> index.finds(name)))
                        .isPresent())
                .isPresent();
        if (indexed) {
            table.indexed().put(column, System.nanoTime());
        }
        return indexed;
    }
}
