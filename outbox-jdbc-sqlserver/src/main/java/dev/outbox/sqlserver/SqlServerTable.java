package dev.outbox.sqlserver;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Capabilities;
import dev.outbox.jdbc.internal.catalog.Capability;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param byCodePoint whether the server counts the characters of a text by code point, or by unit of UTF-16
 * @param lockSpace what the names of this table's application locks begin with, the same on every node
 * @param limits what it can hold of a logical column, where that is less than a message may have
 */
record SqlServerTable(
        TableName name,
        boolean inbox,
        Layout layout,
        String lockSpace,
        boolean byCodePoint,
        Phase phase,
        Map<String, Limit> limits)
        implements LiveTable.Seen {
    /** @param ascii whether it holds no more than that for sure: what a varchar cannot hold becomes a question mark */
    record Limit(int characters, boolean ascii) {}

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

    static final String FORCED = """
            SELECT COUNT(*) AS forced FROM sys.databases d
            WHERE d.database_id = DB_ID() AND d.is_parameterization_forced = 1
            """;

    /** How long a rocket is; databases at a compatibility level below 130 do not know OPENJSON. */
    static final String LENGTH = """
            SELECT LEN(CAST(? AS nvarchar(10)) COLLATE Latin1_General_100_BIN2) FROM OPENJSON(N'[1]')
            """;

    private static final int INVALID_OBJECT = 208;

    /** Whether all that is wrong with a canonical table is asked for. A running node has to make do with what it finds. */
    enum Look {
        FIRST,
        AGAIN
    }

    /** An outbox table: every row is ours. */
    static SqlServerTable outbox(Connection connection, TableName name, Look look) throws SQLException {
        Found found = find(connection, name, TableKind.OUTBOX);
        found.check(look);
        return found.table(Map.of("mine", "1 = 1", "out_source", "CAST(NULL AS nvarchar(255))"), Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static SqlServerTable inbox(Connection connection, TableName name, String consumer, Look look) throws SQLException {
        Found found = find(connection, name, TableKind.INBOX);
        found.check(look);
        found.checkConsumer(consumer);
        return found.table(Map.of(), Map.of("consumer", new NationalText(consumer)));
    }

    /** @param forced whether the database makes literals parameters */
    private record Found(FoundTable catalog, TableKind kind, boolean forced, boolean byCodePoint) {
        private boolean inbox() {
            return kind == TableKind.INBOX;
        }

        private Phase phase() {
            return catalog.phase();
        }

        void checkConsumer(String consumer) {
            String owner = catalog.consumer().orElse(consumer);
            if (phase() != Phase.CLEAN && !owner.equals(consumer)) {
                throw new OutboxException("table \"" + catalog.name() + "\" is in " + phase()
                        + " and belongs to consumer " + owner + ", was opened for " + consumer
                        + "; several consumers need " + Phase.CLEAN + ": apply the migrations up to that phase first");
            }
        }

        /** On the way to the canonical layout its migration sees to the rest. */
        void check(Look look) {
            if (catalog.marked() || phase() == Phase.CLEAN) {
                catalog.requireKind(
                        kind,
                        "open it with " + (inbox() ? "SqlServerOutbox" : "SqlServerInbox") + ", or set table(...)");
            }
            List<String> problems;
            if (phase() == Phase.CLEAN && look == Look.FIRST) {
                problems = SqlServerSchema.problems(catalog, inbox());
            } else if (phase() == Phase.LEGACY && columns().missing().isEmpty()) {
                problems = List.of();
            } else if (phase() == Phase.LEGACY) {
                problems = SqlServerSchema.problems(catalog, inbox());
            } else {
                problems = missing(columns().missing(SqlServerSchema.columns(inbox())));
            }
            if (!problems.isEmpty()) {
                throw new OutboxException("table \"" + catalog.name() + "\" is not an " + kind + " table: "
                        + String.join("; ", problems) + "; apply outbox-migrations (sqlserver) or set table(...)");
            }
        }

        private static List<String> missing(List<String> columns) {
            return columns.isEmpty() ? List.of() : List.of("it has no column " + String.join(", ", columns));
        }

        /**
         * Where it has the canonical indexes, statements name them, whatever the optimizer would rather do. Not while claims
         * go by old columns. Where literals are made parameters, a filtered index that is named would be an error (8622)
         * instead of being passed over, so none is.
         */
        private Map<String, String> hints() {
            Set<String> canBeNamed = catalog.indexes().values().stream()
                    .filter(index ->
                            index.filtered() && index.valid() && !forced && !SqlServerColumns.byOld(phase(), inbox()))
                    .map(Index::name)
                    .collect(Collectors.toSet());
            Map<String, String> hints = new HashMap<>();
            INDEXES.forEach((logical, suffix) -> {
                String index = catalog.name().name() + suffix;
                hints.put(logical, canBeNamed.contains(index) ? "INDEX([" + index + "]), " : "");
            });
            return hints;
        }

        private SqlServerColumns columns() {
            return new SqlServerColumns(
                    catalog.name().toString(), catalog.columns().values(), phase(), inbox());
        }

        SqlServerTable table(Map<String, String> more, Map<String, Object> constants) {
            SqlServerColumns mapper = columns();
            Map<String, Reading> columns = new HashMap<>(mapper.layout(SqlServerSchema.columns(inbox())));
            more.forEach((logical, text) -> columns.put(logical, Reading.fixed(text)));
            hints().forEach((logical, text) -> columns.put(logical, Reading.fixed(text)));
            TableName name = catalog.name();
            columns.put(
                    "next_sequence",
                    Reading.fixed(
                            phase() == Phase.LEGACY
                                    ? "ROW_NUMBER() OVER (ORDER BY Position)"
                                    : "NEXT VALUE FOR " + Quoted.standard(String.valueOf(name.schema())) + "."
                                            + Quoted.standard(name.name() + "_sequence")));
            return new SqlServerTable(
                    name,
                    inbox(),
                    new Layout(Quoted.sqlServer(name), columns, mapper.written(), constants),
                    "dev.outbox:" + name + ":",
                    byCodePoint,
                    phase(),
                    mapper.limits());
        }
    }

    private static Found find(Connection connection, TableName name, TableKind kind) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals(Database.SQLSERVER.product())) {
            throw new OutboxException("the data source leads to " + product + ", not to " + Database.SQLSERVER.product()
                    + "; open table \"" + name
                    + "\" with PostgresOutbox or PostgresInbox, or give the data source of a SQL Server");
        }
        boolean byCodePoint = countsByCodePoint(connection);
        FoundTable found = Catalog.of(Database.SQLSERVER)
                .find(connection, name)
                .orElseThrow(() -> new OutboxException(
                        "table \"" + name + "\" not found; apply outbox-migrations (sqlserver) or set table(...)"));
        return new Found(found, kind, isForced(connection), byCodePoint);
    }

    private static boolean isForced(Connection connection) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FORCED);
                ResultSet row = find.executeQuery()) {
            return row.next() && row.getInt("forced") > 0;
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

    /** Whether claims go by the old columns. */
    boolean byOld() {
        return SqlServerColumns.byOld(phase, inbox);
    }

    /** Refuses a message that asks for what the table cannot hold yet. */
    void check(Message message) {
        if (phase == Phase.CLEAN) {
            return;
        }
        capabilities().check(message, name, phase);
        checkLength("topic", message.topic());
        checkLength("correlation_id", message.correlationId());
    }

    /** Refuses messages that the table cannot tell apart yet. */
    void check(List<Identity> identities) {
        if (phase == Phase.CLEAN) {
            return;
        }
        identities.forEach(identity -> {
            checkLength("source", identity.source());
            checkLength("message_id", identity.messageId());
        });
        if (identities.stream().map(Identity::messageId).distinct().count() < identities.size()) {
            throw refusalOfManySources();
        }
    }

    /** What to throw for messages that the table cannot tell apart yet. */
    OutboxException refusalOfManySources() {
        return capabilities().refusal(Capability.MANY_SOURCES, name, phase);
    }

    private Capabilities capabilities() {
        return Capabilities.of(Database.SQLSERVER, inbox ? TableKind.INBOX : TableKind.OUTBOX);
    }

    private void checkLength(String logical, @Nullable String value) {
        Limit limit = limits.get(logical);
        if (value == null || limit == null) {
            return;
        }
        String remedy = ", or apply the migrations up to " + Phase.CLEAN + " first";
        if (value.length() > limit.characters) {
            throw new OutboxException(logical + " has " + value.length() + " characters, but in " + phase
                    + " of the schema table \"" + name + "\" holds at most " + limit.characters + "; shorten it"
                    + remedy);
        }
        if (limit.ascii && value.chars().anyMatch(c -> c > 127)) {
            throw new OutboxException(logical + " has characters that are not ASCII, which in " + phase
                    + " of the schema table \"" + name + "\" cannot store reliably; remove them" + remedy);
        }
    }
}
