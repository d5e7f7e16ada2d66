package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.ItemColumns;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.sql.NationalText;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** SQL Server. */
final class SqlServerFlavor implements Flavor {
    static final List<String> COLUMNS = ItemColumns.with("exact_key");

    private static final List<String> INBOX_COLUMNS = List.of("consumer", "source", "first_seen_on");

    static final String FIND = """
            SELECT s.name AS schema_name, c.name AS column_name
            FROM sys.objects o
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            JOIN sys.columns c ON c.object_id = o.object_id
            WHERE o.object_id = OBJECT_ID(?) AND o.type = 'U'
            """;

    /** Where the migrations note the phase; a table without it is canonical, or has not the columns that are asked for. */
    static final String FIND_MARK = """
            SELECT CAST(p.value AS nvarchar(255)) AS mark FROM sys.extended_properties p
            WHERE p.class = 1 AND p.major_id = OBJECT_ID(?) AND p.minor_id = 0 AND p.name = N'dev.outbox'
            """;

    static final String EXISTS = """
            SELECT CASE WHEN OBJECT_ID(?) IS NULL THEN 0 ELSE 1 END AS audited,
                CASE WHEN EXISTS (SELECT 1 FROM sys.columns c WHERE c.object_id = OBJECT_ID(?) AND c.name = N'LastError')
                    THEN 1 ELSE 0 END AS listed
            """;

    @Override
    public Optional<AdminTable> find(Connection connection, TableName name, Box box) throws SQLException {
        Map<String, String> columns = new HashMap<>();
        TableName found = name;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setNString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("schema_name"));
                    String column = row.getString("column_name");
                    columns.put(plain(column), "[" + column + "]");
                }
            }
        }
        return columns.isEmpty() ? Optional.empty() : Optional.of(table(connection, found, box, columns));
    }

    private static Phase phase(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FIND_MARK)) {
            find.setNString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                return (row.next()
                                ? PhaseMarker.read("dev.outbox " + row.getString("mark"))
                                : Optional.<PhaseMarker>empty())
                        .map(PhaseMarker::phase)
                        .orElse(Phase.CLEAN);
            }
        }
    }

    private static AdminTable table(Connection connection, TableName name, Box box, Map<String, String> columns)
            throws SQLException {
        TableName audit = new TableName(name.schema(), AdminTable.AUDIT);
        TableName pollers = new TableName(name.schema(), AdminTable.POLLERS);
        Map<String, String> physical = new HashMap<>();
        physical.put("audit", quote(audit));
        physical.put("pollers", quote(pollers));
        COLUMNS.forEach(column -> physical.put(column, physical(name, box, columns, column)));
        if (box == Box.INBOX) {
            INBOX_COLUMNS.forEach(column -> physical.put(column, physical(name, box, columns, column)));
            physical.put("same_consumer", "t." + physical.get("consumer") + " = heads.consumer");
        } else {
            physical.put("consumer", "CAST(NULL AS nvarchar(255))");
            physical.put("source", "CAST(NULL AS nvarchar(255))");
            physical.put("first_seen_on", "SYSUTCDATETIME()");
            physical.put("same_consumer", "1 = 1");
        }
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setNString(1, quote(audit));
            exists.setNString(2, quote(pollers));
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return new AdminTable(
                        box,
                        name,
                        phase(connection, name),
                        Layout.of(quote(name), physical),
                        row.getInt("audited") == 1,
                        row.getInt("listed") == 1);
            }
        }
    }

    private static String physical(TableName name, Box box, Map<String, String> columns, String column) {
        // while an old column of another type has its name
        String interim = columns.get(plain(LegacyNames.interim(column)));
        String found = interim == null ? columns.get(plain(column)) : interim;
        if (found == null) {
            throw new OutboxException("table \"" + name + "\" is not an " + box + " table: it has no column " + column
                    + "; apply outbox-migrations (sqlserver) or name another table");
        }
        return found;
    }

    /** WorkItemId, workitemid and work_item_id are the same. */
    private static String plain(String column) {
        return column.replace("_", "").toLowerCase(Locale.ROOT);
    }

    private static String quote(TableName name) {
        String table = "[" + name.name() + "]";
        return name.schema() == null ? table : "[" + name.schema() + "]." + table;
    }

    @Override
    public Query planned(Query query) {
        return query;
    }

    @Override
    public Object text(String text) {
        return new NationalText(text);
    }

    @Override
    public String searched(Lookup.By by) {
        return switch (by) {
            case KEY -> "exact_key";
            case CORRELATION -> "correlation_id";
            case TENANT -> "tenant_id";
        };
    }

    /** The exact key ends with a full stop. */
    @Override
    public String searched(Lookup.By by, String value) {
        return by == Lookup.By.KEY ? value + "." : value;
    }

    @Override
    public DeadSql dead() {
        return new DeadSql(
                SqlServerDead.NEWEST,
                SqlServerDead.NEWEST_UNKNOWN,
                SqlServerDead.OLDEST,
                SqlServerDead.COUNT,
                SqlServerDead.REQUEUE,
                Optional.empty(),
                SqlServerDead.DISCARD_OUTBOX,
                SqlServerDead.DISCARD_INBOX);
    }

    @Override
    public LookupSql lookup() {
        return new LookupSql(
                SqlServerLookup.BY_IDS,
                SqlServerLookup.RECORDS_BY_IDS,
                SqlServerLookup.BY,
                SqlServerLookup.DETAIL,
                SqlServerLookup.PAYLOAD,
                SqlServerLookup.RECORD_DETAIL,
                SqlServerLookup.INDEXED,
                SqlServerLookup.ROWS);
    }

    @Override
    public StatusSql status() {
        return new StatusSql(
                SqlServerStatus.OPEN,
                SqlServerStatus.DONE,
                SqlServerStatus.DONE_ABOUT,
                SqlServerStatus.RECENT,
                SqlServerStatus.BLOCKED,
                SqlServerStatus.BLOCKING_DEAD,
                SqlServerStatus.BACKLOG,
                SqlServerStatus.OLDEST_DUE,
                SqlServerStatus.OLDEST_DONE,
                SqlServerStatus.POLLERS,
                SqlServerStatus.STUCK,
                SqlServerStatus.UNHANDLED,
                SqlServerStatus.NOW);
    }

    @Override
    public PurgeSql purge() {
        return new PurgeSql(SqlServerPurge.PURGE, SqlServerPurge.COUNT);
    }

    @Override
    public Examiner examiner(Session session, DoctorLimits limits) {
        return new SqlServerDoctor(session, limits);
    }
}
