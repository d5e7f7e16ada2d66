package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.OrdinaryTable;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.ItemColumns;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGStatement;

/** PostgreSQL. */
final class PostgresFlavor implements Flavor {
    private static final List<String> INBOX_COLUMNS = List.of("consumer", "source", "first_seen_on");

    private static final String FIND = """
            SELECT n.nspname, obj_description(c.oid, 'pg_class'), a.attname, c.relkind,
                EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid)
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.oid = to_regclass(?)
            """;

    private static final String EXISTS = """
            SELECT to_regclass(?) IS NOT NULL, EXISTS (
                SELECT FROM pg_catalog.pg_attribute
                WHERE attrelid = to_regclass(?) AND attname = 'last_error' AND NOT attisdropped)
            """;

    /** Whoever has rows in an inbox, found by leaps through its key and not by reading it. */
    private static final String CONSUMERS = """
            (WITH RECURSIVE found AS (
                (SELECT consumer FROM %1$s ORDER BY consumer LIMIT 1)
                UNION ALL
                SELECT (SELECT next.consumer FROM %1$s AS next WHERE next.consumer > found.consumer
                    ORDER BY next.consumer LIMIT 1)
                FROM found WHERE found.consumer IS NOT NULL)
            SELECT consumer FROM found WHERE consumer IS NOT NULL)""";

    @Override
    public Optional<AdminTable> find(Connection connection, TableName name, Box box) throws SQLException {
        Set<String> columns = new HashSet<>();
        TableName found = name;
        String comment = null;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString(1));
                    comment = row.getString(2);
                    columns.add(row.getString(3));
                    OrdinaryTable.check(found, row.getString(4), row.getBoolean(5));
                }
            }
        }
        return columns.isEmpty() ? Optional.empty() : Optional.of(table(connection, found, box, comment, columns));
    }

    private static AdminTable table(
            Connection connection, TableName name, Box box, @Nullable String comment, Set<String> columns)
            throws SQLException {
        Phase phase = PhaseMarker.read(comment)
                .map(PhaseMarker::phase)
                .orElse(columns.contains("work_item_id") ? Phase.CLEAN : Phase.LEGACY);
        TableName audit = new TableName(name.schema(), AdminTable.AUDIT);
        TableName pollers = new TableName(name.schema(), AdminTable.POLLERS);
        Map<String, String> physical = new HashMap<>();
        physical.put("audit", quote(audit));
        physical.put("pollers", quote(pollers));
        if (!phase.before(Phase.FLIPPED)) {
            ItemColumns.ALL.forEach(column -> physical.put(column, physical(name, box, phase, columns, column)));
            if (box == Box.INBOX) {
                INBOX_COLUMNS.forEach(column -> physical.put(column, physical(name, box, phase, columns, column)));
                physical.put("consumers", CONSUMERS.formatted(quote(name)));
                physical.put("of_consumer", "\"consumer\" = c.consumer");
                physical.put("same_consumer", "(@\"consumer\" = heads.consumer)");
            } else {
                physical.put("consumer", "(NULL::text)");
                physical.put("source", "(NULL::text)");
                physical.put("first_seen_on", "(statement_timestamp())");
                physical.put("consumers", "(SELECT NULL::text AS consumer)");
                physical.put("of_consumer", "true");
                physical.put("same_consumer", "(true)");
            }
        }
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, quote(audit));
            exists.setString(2, quote(pollers));
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return new AdminTable(
                        box, name, phase, Layout.of(quote(name), physical), row.getBoolean(1), row.getBoolean(2));
            }
        }
    }

    private static String physical(TableName name, Box box, Phase phase, Set<String> columns, String column) {
        String interim = LegacyNames.interim(column);
        if (phase.before(Phase.RENAMING) && columns.contains(interim)) {
            return "\"" + interim + "\"";
        }
        if (!columns.contains(column)) {
            throw new OutboxException("table \"" + name + "\" is not an " + box + " table: it has no column " + column
                    + "; apply outbox-migrations (postgres) or name another table");
        }
        return "\"" + column + "\"";
    }

    static String quote(TableName name) {
        String table = "\"" + name.name() + "\"";
        return name.schema() == null ? table : "\"" + name.schema() + "\"." + table;
    }

    /** Without a plan that is kept: it would be one for all values. */
    @Override
    public Query planned(Query query) throws SQLException {
        return query.where(PGStatement.class, statement -> statement.setPrepareThreshold(0));
    }

    @Override
    public Object text(String text) {
        return text;
    }

    @Override
    public String searched(Lookup.By by) {
        return switch (by) {
            case KEY -> "message_key";
            case CORRELATION -> "correlation_id";
            case TENANT -> "tenant_id";
        };
    }

    @Override
    public String searched(Lookup.By by, String value) {
        return value;
    }

    @Override
    public DeadSql dead() {
        return new DeadSql(
                PostgresDead.NEWEST,
                PostgresDead.NEWEST_UNKNOWN,
                PostgresDead.OLDEST,
                PostgresDead.COUNT,
                PostgresDead.REQUEUE,
                Optional.of(new EndOfKeySql(PostgresDead.LOCK_KEYS, PostgresDead.MOVE_TO_END)),
                PostgresDead.DISCARD_OUTBOX,
                PostgresDead.DISCARD_INBOX);
    }

    @Override
    public LookupSql lookup() {
        return new LookupSql(
                PostgresLookup.BY_IDS,
                PostgresLookup.RECORDS_BY_IDS,
                PostgresLookup.BY,
                PostgresLookup.DETAIL,
                PostgresLookup.PAYLOAD,
                PostgresLookup.RECORD_DETAIL,
                PostgresLookup.INDEXED,
                PostgresLookup.ROWS);
    }

    @Override
    public StatusSql status() {
        return new StatusSql(
                PostgresStatus.OPEN,
                PostgresStatus.DONE,
                PostgresStatus.DONE_ABOUT,
                PostgresStatus.RECENT,
                PostgresStatus.BLOCKED,
                PostgresStatus.BLOCKING_DEAD,
                PostgresStatus.BACKLOG,
                PostgresStatus.OLDEST_DUE,
                PostgresStatus.OLDEST_DONE,
                PostgresStatus.POLLERS,
                PostgresStatus.STUCK,
                PostgresStatus.UNHANDLED,
                PostgresStatus.NOW);
    }

    @Override
    public PurgeSql purge() {
        return new PurgeSql(PostgresPurge.PURGE, PostgresPurge.COUNT);
    }

    @Override
    public Examiner examiner(Session session, DoctorLimits limits) {
        return new PostgresDoctor(session, limits);
    }
}
