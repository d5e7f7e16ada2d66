package dev.outbox.sqlserver;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.Capability;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.LegacyNames;
import dev.outbox.jdbc.internal.LiveTable;
import dev.outbox.jdbc.internal.Marker;
import dev.outbox.jdbc.internal.NationalText;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param byCodePoint whether the server counts the characters of a text by code point, or by unit of UTF-16
 * @param lockSpace what the names of this table's application locks begin with, the same on every node
 * @param limits how many characters of a logical column it can hold, where that is less than a message may have
 */
record SqlServerTable(
        TableName name, Layout layout, String lockSpace, boolean byCodePoint, Phase phase, Map<String, Integer> limits)
        implements LiveTable.Seen {
    /** How a statement says by which index it goes, and how that ends in the canonical scripts. */
    static final Map<String, String> INDEXES = Map.of(
            "by_ready", "_Ready",
            "by_due", "_Ready",
            "by_key", "_Key",
            "by_key_high", "_KeyHigh",
            "by_key_blocked", "_KeyBlocked",
            "by_leased", "_Leased",
            "by_done", "_Done",
            "by_dead", "_Dead");

    /** Where the migrations note the phase. */
    static final String FIND_MARK = """
            SELECT CAST(p.value AS nvarchar(255)) AS mark FROM sys.extended_properties p
            WHERE p.class = 1 AND p.major_id = OBJECT_ID(?) AND p.minor_id = 0 AND p.name = N'dev.outbox'
            """;

    /** How long a rocket is; databases at a compatibility level below 130 do not know OPENJSON. */
    static final String LENGTH = """
            SELECT LEN(CAST(? AS nvarchar(10)) COLLATE Latin1_General_100_BIN2) FROM OPENJSON(N'[1]')
            """;

    private static final String PRODUCT = "Microsoft SQL Server";

    private static final int INVALID_OBJECT = 208;

    /** Whether all that is wrong with a canonical table is asked for. A running node has to make do with what it finds. */
    enum Look {
        FIRST,
        AGAIN
    }

    /** An outbox table: every row is ours. */
    static SqlServerTable detect(Connection connection, TableName name, Look look) throws SQLException {
        Found found = find(connection, name);
        Phase phase = found.phase(LegacyNames.OUTBOX);
        if (phase == Phase.CLEAN
                && found.columns(phase).missing(SqlServerSchema.columns(true)).isEmpty()) {
            throw new OutboxException("table \"" + found.catalog.name()
                    + "\" is an inbox table; open it with SqlServerInbox, or set table(...)");
        }
        found.check(phase, false, look);
        return found.table(
                phase,
                SqlServerSchema.columns(false),
                Map.of("mine", "1 = 1", "out_source", "CAST(NULL AS nvarchar(255))"),
                Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static SqlServerTable detectInbox(Connection connection, TableName name, String consumer, Look look)
            throws SQLException {
        Found found = find(connection, name);
        Phase phase = found.phase(LegacyNames.INBOX);
        if (phase != Phase.CLEAN) {
            throw new OutboxException("table \"" + found.catalog.name() + "\" is in " + phase
                    + ", and an inbox on SQL Server must be in " + Phase.CLEAN
                    + "; create one with OutboxMigrations.installInbox(...)");
        }
        found.check(phase, true, look);
        return found.table(
                phase,
                SqlServerSchema.columns(true),
                Map.of("mine", "[Consumer] = :consumer"),
                Map.of("consumer", new NationalText(consumer)));
    }

    private record Found(SqlServerCatalog catalog, Optional<Phase> marked, boolean byCodePoint) {
        /** By its marker; where there is none, a table is as it was before any migration, or as it is after all. */
        Phase phase(LegacyNames legacy) {
            boolean isNew =
                    columns(Phase.CLEAN).missing(List.of("work_item_id")).isEmpty();
            boolean isOld = columns(Phase.LEGACY).missing(legacy).isEmpty();
            return marked.orElse(isOld && !isNew ? Phase.LEGACY : Phase.CLEAN);
        }

        /** On the way to the canonical layout its migration sees to the rest. */
        void check(Phase phase, boolean inbox, Look look) {
            List<String> problems;
            if (phase == Phase.CLEAN && look == Look.FIRST) {
                problems = SqlServerSchema.problems(catalog, inbox);
            } else {
                problems = missing(
                        phase == Phase.LEGACY
                                ? columns(phase).missing(LegacyNames.OUTBOX)
                                : columns(phase).missing(SqlServerSchema.columns(inbox)));
            }
            if (!problems.isEmpty()) {
                throw new OutboxException("table \"" + catalog.name() + "\" is not "
                        + (inbox ? "an inbox" : "an outbox") + " table: " + String.join("; ", problems)
                        + "; apply outbox-migrations (sqlserver) or set table(...)");
            }
        }

        private static List<String> missing(List<String> columns) {
            return columns.isEmpty() ? List.of() : List.of("it has no column " + String.join(", ", columns));
        }

        /**
         * Where it has the canonical indexes, statements name them, whatever the optimizer would rather do. Not before phase
         * 2, which builds them. Where literals are made parameters, a filtered index that is named would be an error (8622)
         * instead of being passed over, so none is.
         */
        private Map<String, String> hints(Phase phase) {
            Set<String> canBeNamed = catalog.indexes().stream()
                    .filter(index ->
                            index.filtered() && !index.disabled() && !catalog.forced() && !phase.before(Phase.DUAL))
                    .map(SqlServerCatalog.Index::name)
                    .collect(Collectors.toSet());
            Map<String, String> hints = new HashMap<>();
            INDEXES.forEach((logical, suffix) -> {
                String index = catalog.name().name() + suffix;
                hints.put(logical, canBeNamed.contains(index) ? "INDEX([" + index + "]), " : "");
            });
            return hints;
        }

        SqlServerColumns columns(Phase phase) {
            return new SqlServerColumns(catalog.name().toString(), catalog.columns(), phase);
        }

        SqlServerTable table(
                Phase phase, List<String> logical, Map<String, String> more, Map<String, Object> constants) {
            SqlServerColumns mapper = columns(phase);
            Map<String, String> columns = new HashMap<>(mapper.layout(logical));
            columns.putAll(more);
            columns.putAll(hints(phase));
            TableName name = catalog.name();
            columns.put(
                    "next_sequence",
                    phase == Phase.LEGACY
                            ? "ROW_NUMBER() OVER (ORDER BY Position)"
                            : "NEXT VALUE FOR \"" + name.schema() + "\".\"" + name.name() + "_sequence\"");
            return new SqlServerTable(
                    name,
                    new Layout(quote(name), columns, constants, mapper.writes()),
                    "dev.outbox:" + name + ":",
                    byCodePoint,
                    phase,
                    mapper.limits());
        }
    }

    private static Found find(Connection connection, TableName name) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals(PRODUCT)) {
            throw new OutboxException("the data source leads to " + product + ", not to " + PRODUCT + "; open table \""
                    + name + "\" with PostgresOutbox or PostgresInbox, or give the data source of a SQL Server");
        }
        boolean byCodePoint = countsByCodePoint(connection);
        // Before the columns: should a step come in between, those of the next phase serve the phase before.
        Optional<Phase> marked = mark(connection, name);
        SqlServerCatalog found = SqlServerCatalog.read(connection, name);
        if (found.columns().isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" not found; apply outbox-migrations (sqlserver) or set table(...)");
        }
        return new Found(found, marked, byCodePoint);
    }

    private static Optional<Phase> mark(Connection connection, TableName table) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FIND_MARK)) {
            find.setNString(1, quote(table));
            try (ResultSet row = find.executeQuery()) {
                return row.next()
                        ? Marker.read("dev.outbox " + row.getString("mark")).map(Marker::phase)
                        : Optional.empty();
            }
        }
    }

    private static boolean countsByCodePoint(Connection connection) throws SQLException {
        try (PreparedStatement length = connection.prepareStatement(LENGTH)) {
            length.setNString(1, "\uD83D\uDE80");
            try (ResultSet row = length.executeQuery()) {
                row.next();
                return row.getInt(1) == 1;
            }
        } catch (SQLException e) {
            if (e.getErrorCode() == INVALID_OBJECT) {
                throw new OutboxException(
                        "the database does not know OPENJSON: its compatibility level must be at least"
                                + " 130 (SQL Server 2016); raise it with ALTER DATABASE ... SET COMPATIBILITY_LEVEL");
            }
            throw e;
        }
    }

    /** What statements may name. */
    static List<String> logicalColumns() {
        return SqlServerSchema.columns(true);
    }

    /** Refuses a message that asks for what the table cannot hold yet. */
    void check(Message message) {
        if (phase == Phase.CLEAN) {
            return;
        }
        Capability.checkOutbox(message, name, phase);
        checkLength("topic", message.topic());
        checkLength("correlation_id", message.correlationId());
    }

    private void checkLength(String logical, @Nullable String value) {
        Integer limit = limits.get(logical);
        if (value != null && limit != null && value.length() > limit) {
            throw new OutboxException(logical + " has " + value.length() + " characters, but in " + phase
                    + " of the schema table \"" + name + "\" holds at most " + limit
                    + "; shorten it, or apply the migrations up to " + Phase.CLEAN + " first");
        }
    }

    static String quote(TableName name) {
        String table = "[" + name.name() + "]";
        return name.schema() == null ? table : "[" + name.schema() + "]." + table;
    }
}
