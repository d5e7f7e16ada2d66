package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.Marker;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.SqlServerLegacyTable.Column;
import dev.outbox.migrations.SqlServerLegacyTable.Renamed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Looks an outbox or inbox table of SQL Server over: its catalog first, then its rows. */
final class SqlServerVerifier {
    private static final List<String> TIMES = List.of("datetime2", "datetimeoffset");

    private static final List<String> TEXTS = List.of("varchar", "nvarchar");

    /** What a legacy column may be, so that it can be used as it is. */
    private static final Map<String, List<String>> TYPES = Map.of(
            "work_item_id", List.of("uniqueidentifier"),
            "owner_token", List.of("uniqueidentifier"),
            "message_id", List.of("uniqueidentifier", "nvarchar"),
            "status", List.of("tinyint", "smallint", "int"),
            "attempt_count", List.of("int"),
            "topic", List.of("nvarchar"),
            "payload", List.of("nvarchar"),
            "created_on", TIMES,
            "due_on", TIMES,
            "locked_until", TIMES);

    /** Where that of an inbox is another. */
    private static final Map<String, List<String>> INBOX_TYPES = Map.of(
            "message_id", TEXTS,
            "source", TEXTS,
            "status", TEXTS,
            "hash", List.of("binary", "varbinary"),
            "first_seen_on", TIMES,
            "last_seen_on", TIMES,
            "processed_on", TIMES);

    /** Not every legacy outbox has them. */
    private static final List<String> SHARED = List.of("processed_by", "processed_on", "correlation_id");

    /** What names the table: views, procedures, functions and triggers. */
    static final String READERS = """
            SELECT s.name AS schema_name, o.name AS object_name, m.definition
            FROM sys.sql_modules m
            JOIN sys.objects o ON o.object_id = m.object_id
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            """;

    private final Connection connection;
    private final SqlServerLegacyTable table;
    private final Upgrade.Options options;
    private final List<Finding> findings = new ArrayList<>();

    SqlServerVerifier(Connection connection, SqlServerLegacyTable table, Upgrade.Options options) {
        this.connection = connection;
        this.table = table;
        this.options = options;
    }

    TableReport report() throws SQLException {
        if (table.phase() == Phase.LEGACY) {
            legacyColumns();
            taken();
        } else {
            columns();
            indexes();
            age();
            pollers();
            readers();
        }
        strangers();
        if (findings.stream().noneMatch(finding -> finding.concern() == Concern.COLUMN_MISSING)) {
            rows();
        }
        return new TableReport(
                table.name().toString(), table.phase(), table.marker().flatMap(Marker::since), next(), findings);
    }

    private Phase next() {
        return switch (table.phase()) {
            case LEGACY -> Phase.ADDITIVE;
            case ADDITIVE -> Phase.DUAL;
            case DUAL -> Phase.FLIPPED;
            case FLIPPED, SETTLING, CLEAN -> Phase.CLEAN;
        };
    }

    private void legacyColumns() {
        for (String logical : table.kind().legacy.known()) {
            Column found = table.stored(logical).orElse(null);
            List<String> types =
                    table.inbox() && INBOX_TYPES.containsKey(logical) ? INBOX_TYPES.get(logical) : TYPES.get(logical);
            if (found == null) {
                add(Concern.COLUMN_MISSING, "no column stands for " + logical, true, Phase.ADDITIVE);
            } else if (types != null && !types.contains(found.type())) {
                add(
                        Concern.COLUMN_TYPE,
                        "column " + found.name() + " is " + found.definition() + ", but " + logical + " must be "
                                + String.join(" or ", types) + "; change its type first",
                        true,
                        Phase.ADDITIVE);
            }
        }
    }

    /** Names that phase 1 needs for columns of its own. */
    private void taken() {
        for (SqlServerCanonical.Column column : table.canonical().columns()) {
            if (!(SHARED.contains(column.logical()) && !table.inbox())
                    && !table.kind().legacy.known().contains(column.logical())
                    && table.stored(column.logical()).isPresent()) {
                add(
                        Concern.COLUMN_TYPE,
                        "a column is called " + column.name() + " already, which phase 1 adds; rename it first",
                        true,
                        Phase.ADDITIVE);
            }
        }
    }

    private void columns() {
        for (SqlServerCanonical.Column column : table.canonical().columns()) {
            if (table.stored(column.logical()).isEmpty()
                    && table.interim(column.logical()).isEmpty()) {
                add(Concern.COLUMN_MISSING, "column " + column.name() + " is missing; run phase 1 again", true, next());
            }
        }
    }

    private void indexes() {
        if (table.phase().before(Phase.DUAL) || isBuiltAnew()) {
            return;
        }
        List<String> suffixes = new ArrayList<>(table.canonical().indexes().stream()
                .map(SqlServerCanonical.Index::suffix)
                .toList());
        if (table.inbox() && table.phase() == Phase.DUAL) {
            suffixes.add("_Differs");
        }
        for (String suffix : suffixes) {
            String name = table.name().name() + suffix;
            SqlServerLegacyTable.Index found = table.indexes().get(name);
            if (found == null) {
                add(
                        Concern.INDEX_MISSING,
                        "index " + name + " is missing; run " + Phase.DUAL + " again, or create it as the installation"
                                + " does",
                        true,
                        next());
            } else if (found.disabled()) {
                add(Concern.INDEX_INVALID, "index " + name + " is disabled; rebuild it", true, next());
            }
        }
    }

    /** An inbox whose phase 4 was interrupted. */
    private boolean isBuiltAnew() {
        return table.inbox()
                && table.phase() == Phase.FLIPPED
                && table.indexes().containsKey(table.name().name() + "_StatusNew");
    }

    private void age() throws SQLException {
        Duration noticed = options.refreshInterval().multipliedBy(2);
        if ((table.phase() == Phase.DUAL || table.phase() == Phase.FLIPPED)
                && number("SELECT CASE WHEN N'" + since().toString().replace("Z", "") + "' > "
                                + SqlServerSql.ago(noticed)
                                + " THEN 1 ELSE 0 END")
                        == 1) {
            add(Concern.TOO_RECENT, Guard.young(table.phase(), noticed), false, next());
        }
    }

    private Instant since() {
        return table.marker().flatMap(Marker::since).orElse(Instant.EPOCH);
    }

    /** Pollers that tell of themselves also tell which phase they read; they do so twice a minute. */
    private void pollers() throws SQLException {
        String pollers = SqlServerLegacyTable.quote(new TableName(table.name().schema(), "outbox_pollers"));
        if (table.phase() == Phase.CLEAN
                || number("SELECT CASE WHEN OBJECT_ID(N'" + pollers + "') IS NULL THEN 0 ELSE 1 END") == 0) {
            return;
        }
        long behind = number("SELECT COUNT(*) FROM " + pollers + " WHERE TableName = N'" + table.name()
                + "' AND Phase < N'" + table.phase().mark() + "' AND SeenOn > DATEADD(second, -90, SYSUTCDATETIME())");
        if (behind > 0) {
            add(Concern.OLD_POLLER, Guard.unaware(table.phase()), false, next());
        }
    }

    /** Only the text of a module tells which columns it names. */
    private void readers() throws SQLException {
        if (table.phase() == Phase.CLEAN) {
            return;
        }
        List<String> old =
                new ArrayList<>(table.renamed().stream().map(Renamed::old).toList());
        table.processed().ifPresent(column -> old.add(column.name()));
        if (table.inbox() && table.interim("status").isPresent()) { // which changes what it says
            table.stored("status").ifPresent(column -> old.add(column.name()));
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READERS)) {
            while (row.next()) {
                String text = row.getString("definition");
                if (text == null || !SqlServerSql.names(text, table.name().name())) {
                    continue;
                }
                List<String> named = old.stream()
                        .filter(column -> SqlServerSql.names(text, column))
                        .toList();
                if (!named.isEmpty()) {
                    add(
                            Concern.OLD_READER,
                            "view or procedure " + row.getString("schema_name") + "." + row.getString("object_name")
                                    + " names the table and " + String.join(", ", named)
                                    + "; change or drop it first",
                            false,
                            Phase.CLEAN);
                }
            }
        }
    }

    /** Columns of the application's own that our inserts would not fill. */
    private void strangers() {
        List<String> known = new ArrayList<>();
        table.canonical().columns().forEach(column -> {
            table.stored(column.logical()).ifPresent(found -> known.add(found.name()));
            table.interim(column.logical()).ifPresent(found -> known.add(found.name()));
        });
        table.processed().ifPresent(column -> known.add(column.name()));
        for (Column column : table.columns().values()) {
            if (!column.nullable()
                    && !column.computed()
                    && column.fallback() == null
                    && !known.contains(column.name())) {
                add(
                        Concern.COLUMN_NULLABILITY,
                        "column " + column.name() + " is none of the " + (table.inbox() ? "inbox" : "outbox")
                                + "'s, must not be null and has no default, so"
                                + " that no message can be stored; give it a default or allow nulls",
                        true,
                        next());
            }
        }
    }

    private void rows() throws SQLException {
        for (SqlServerRows.Check check : new SqlServerRows(table, options.quietFor()).checks()) {
            long rows = number("SELECT COUNT_BIG(*) FROM " + table.quoted() + " t WITH (READUNCOMMITTED) WHERE "
                    + check.condition());
            if (rows > 0) {
                findings.add(
                        new Finding(check.concern(), rows + " " + check.text(), rows, check.wrong(), check.blocks()));
            }
        }
    }

    private void add(Concern concern, String text, boolean wrong, Phase... blocks) {
        findings.add(new Finding(concern, text, 0, wrong, Set.of(blocks)));
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
