package dev.outbox.admin;

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
final class Session {
    /** For so long an index is believed to be there still. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final Connection connection;
    private final Flavor flavor;
    private final Map<Box, TableName> names;
    private final Map<Box, AdminTable> settled;
    private final Map<String, Long> indexed;
    private final Optional<Duration> patience;

    /**
     * @param settled tables that need not be looked at again; grows
     * @param indexed when an index was last seen, by table and column; grows
     * @param patience how long a statement may take; empty means as long as it takes
     */
    Session(
            Connection connection,
            Flavor flavor,
            Map<Box, TableName> names,
            Map<Box, AdminTable> settled,
            Map<String, Long> indexed,
            Optional<Duration> patience) {
        this.connection = connection;
        this.flavor = flavor;
        this.names = names;
        this.settled = settled;
        this.indexed = indexed;
        this.patience = patience;
    }

    Connection connection() {
        return connection;
    }

    Flavor flavor() {
        return flavor;
    }

    /** Those that are there, in whatever phase; at least one. */
    List<AdminTable> tables() throws SQLException {
        List<AdminTable> found = new ArrayList<>();
        for (Map.Entry<Box, TableName> name : names.entrySet()) {
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

    /** Those that are there, and have the new columns; of one box if that is asked for. */
    List<AdminTable> tables(@Nullable Box box) throws SQLException {
        if (box != null) {
            return List.of(table(box).ready());
        }
        return tables().stream().map(AdminTable::ready).toList();
    }

    AdminTable table(Box box) throws SQLException {
        TableName name = names.get(box);
        Optional<AdminTable> found = name == null ? Optional.empty() : find(box, name);
        return found.orElseThrow(() -> new NoSuchTableException("there is no " + box + " table"
                + (name == null ? "" : " \"" + name + "\"") + "; apply outbox-migrations, or name the table with " + box
                + "(...)"));
    }

    private Optional<AdminTable> find(Box box, TableName name) throws SQLException {
        AdminTable known = settled.get(box);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<AdminTable> found = flavor.find(connection, name, box);
        found.filter(AdminTable::isSettled).ifPresent(table -> settled.put(box, table));
        return found;
    }

    /** Whether an index was there a moment ago. */
    boolean isIndexed(Box box, String column) {
        Long seen = indexed.get(box + " " + column);
        return seen != null && System.nanoTime() - seen < FRESH.toNanos();
    }

    void rememberIndexed(Box box, String column) {
        indexed.put(box + " " + column, System.nanoTime());
    }

    /** @param statement with logical names */
    Query query(AdminTable table, String statement) throws SQLException {
        return query(table.sql(statement));
    }

    Query query(Sql sql) throws SQLException {
        Query query = flavor.planned(sql.on(connection));
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
        return text == null ? null : flavor.text(text);
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
