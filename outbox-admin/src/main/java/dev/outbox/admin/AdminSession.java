package dev.outbox.admin;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One connection, and the tables as they are now: a migration may be under way, so that they are looked at anew for
 * each call until they are settled.
 */
final class AdminSession {
    /** For so long an index is believed to be there still. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final Connection connection;
    private final AdminDialect dialect;
    private final Map<TableKind, TableName> names;
    private final Map<TableKind, AdminTable> settled;
    private final Map<String, Long> indexed;
    private final Optional<Duration> patience;

    /**
     * @param settled tables that need not be looked at again; grows
     * @param indexed when an index was last seen, by table and column; grows
     * @param patience how long a statement may take; empty means as long as it takes
     */
    AdminSession(
            Connection connection,
            AdminDialect dialect,
            Map<TableKind, TableName> names,
            Map<TableKind, AdminTable> settled,
            Map<String, Long> indexed,
            Optional<Duration> patience) {
        this.connection = connection;
        this.dialect = dialect;
        this.names = names;
        this.settled = settled;
        this.indexed = indexed;
        this.patience = patience;
    }

    Connection connection() {
        return connection;
    }

    AdminDialect dialect() {
        return dialect;
    }

    /** Those that are there, in whatever phase; at least one. */
    List<AdminTable> tables() throws SQLException {
        List<AdminTable> found = new ArrayList<>();
        for (Map.Entry<TableKind, TableName> name : names.entrySet()) {
            find(name.getKey(), name.getValue()).ifPresent(found::add);
        }
        if (found.isEmpty()) {
            throw new NoSuchTableException("there is neither "
                    + String.join(
                            " nor ",
                            names.entrySet().stream()
                                    .map(name -> "an " + name.getKey() + " table \"" + name.getValue() + "\"")
                                    .toList())
                    + "; apply outbox-migrations, or name the tables with outbox(...) and inbox(...)");
        }
        return found;
    }

    /** Those that are there, and have the new columns; of one kind if that is asked for. */
    List<AdminTable> tables(@Nullable TableKind kind) throws SQLException {
        if (kind != null) {
            return List.of(table(kind).ready());
        }
        return tables().stream().map(AdminTable::ready).toList();
    }

    AdminTable table(TableKind kind) throws SQLException {
        TableName name = names.get(kind);
        Optional<AdminTable> found = name == null ? Optional.empty() : find(kind, name);
        return found.orElseThrow(() -> new NoSuchTableException("there is no " + kind + " table"
                + (name == null ? "" : " \"" + name + "\"") + "; apply outbox-migrations, or name the table with "
                + kind
                + "(...)"));
    }

    private Optional<AdminTable> find(TableKind kind, TableName name) throws SQLException {
        AdminTable known = settled.get(kind);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<AdminTable> found = dialect.find(connection, name, kind);
        found.filter(AdminTable::isSettled).ifPresent(table -> settled.put(kind, table));
        return found;
    }

    /** Whether an index was there a moment ago. */
    boolean isIndexed(TableKind kind, String column) {
        Long seen = indexed.get(kind + " " + column);
        return seen != null && System.nanoTime() - seen < FRESH.toNanos();
    }

    void rememberIndexed(TableKind kind, String column) {
        indexed.put(kind + " " + column, System.nanoTime());
    }

    /** @param statement with logical names */
    Query query(AdminTable table, String statement) throws SQLException {
        return query(table.sql(statement));
    }

    Query query(Sql sql) throws SQLException {
        Query query = dialect.planned(sql.on(connection));
        return patience.isPresent() ? query.within(patience.get()) : query;
    }

    interface Work<T> {
        T run() throws SQLException;
    }

    /** Several statements in one transaction. If one fails, closing the connection rolls back. */
    <T> T inTransaction(Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        T result = work.run();
        connection.commit();
        connection.setAutoCommit(true);
        return result;
    }

    @Nullable
    Object text(@Nullable String text) {
        return text == null ? null : dialect.text(text);
    }

    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    static <T> List<T> list(Query query, Row<T> reader) throws SQLException {
        List<T> all = new ArrayList<>();
        try (ResultSet rows = query.rows()) {
            while (rows.next()) {
                all.add(reader.read(rows));
            }
        }
        return all;
    }

    static <T> T one(Query query, Row<T> reader) throws SQLException {
        try (ResultSet rows = query.rows()) {
            rows.next();
            return reader.read(rows);
        }
    }
}
