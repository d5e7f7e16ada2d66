package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.UpgradeOptions;
import dev.outbox.migrations.internal.sqlserver.LegacyTable.Renamed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The single statements that scripts are made of. */
final class TableSql {
    /** The error of a script that refuses; its text is ours. */
    static final int REFUSED = 51_007;

    /** Computed columns and filtered indexes need options that sqlcmd does not set by itself (1934). */
    static final String SET_OPTIONS = """
            SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;
            SET XACT_ABORT ON;
            """;

    /** The ends of the names of indexes that exist during the migration only. */
    private static final List<String> FOR_A_WHILE =
            List.of("_OrderNew", "_ItemNew", "_MessageNew", "_StatusNew", "_Differs");

    private final LegacyTable table;
    private final UpgradeOptions options;

    TableSql(LegacyTable table, UpgradeOptions options) {
        this.table = table;
        this.options = options;
    }

    String alter(String change) {
        return "ALTER TABLE " + table.quoted() + " " + change;
    }

    String dropColumn(String column) {
        return alter("DROP COLUMN [" + column + "]");
    }

    String dropIndex(String index) {
        return "DROP INDEX [" + index + "] ON " + table.quoted();
    }

    String dropDefault(Column column) {
        return alter("DROP CONSTRAINT [" + column.defaultName() + "]");
    }

    List<String> dropAliases() {
        return table.aliases().stream().map(this::dropColumn).toList();
    }

    /** A column and its default. */
    List<String> remove(Column column) {
        List<String> statements = new ArrayList<>();
        if (column.defaultName() != null) {
            statements.add(dropDefault(column));
        }
        statements.add(dropColumn(column.name()));
        return statements;
    }

    /** Both sides of a column that only changes its name. */
    interface Side {
        String of(Renamed renamed);
    }

    List<String> rename(Side from, Side to) {
        return table.renamed().stream()
                .map(renamed -> rename(from.of(renamed), to.of(renamed)))
                .toList();
    }

    String rename(String from, String to) {
        return "EXEC sp_rename @objname = %s, @newname = %s, @objtype = N'COLUMN'"
                .formatted(Literal.national(table.quoted() + "." + Quoted.sqlServer(from)), Literal.national(to));
    }

    String alias(String alias, String stored) {
        return alter("ADD [" + alias + "] AS [" + stored + "]");
    }

    /** The default that the canonical table has. */
    String fallback(Canonical.Column column) {
        return column.constraint() == null
                ? ""
                : fallback(
                        column.constraint(),
                        String.valueOf(column.fallback()).replace("\"TABLE_sequence\"", table.relation("_sequence")));
    }

    String fallback(String suffix, String value) {
        return " CONSTRAINT " + table.own(suffix) + " DEFAULT (" + value + ")";
    }

    /** Which rows of an inbox say one thing in old columns and another in new ones. */
    String differs() {
        return alter("ADD [" + LegacyTable.DIFFERS + "] AS " + new RowChecks(table, Duration.ZERO).differing(""));
    }

    List<String> dropDiffers() {
        List<String> statements = new ArrayList<>();
        if (table.indexes().containsKey(table.name().name() + "_Differs")) {
            statements.add(dropIndex(table.name().name() + "_Differs"));
        }
        if (table.has(LegacyTable.DIFFERS)) {
            statements.add(dropColumn(LegacyTable.DIFFERS));
        }
        return statements;
    }

    /** Builds an index that is missing or was left disabled. */
    List<String> index(String suffix, boolean unique, String body) {
        Index found = table.indexes().get(table.name().name() + suffix);
        return found != null && found.valid() ? List.of() : List.of(build(suffix, unique, body, found != null));
    }

    String build(String suffix, boolean unique, String body, boolean again) {
        return "CREATE " + (unique ? "UNIQUE " : "") + "INDEX " + table.own(suffix) + " ON " + table.quoted() + " "
                + body + " WITH (ALLOW_PAGE_LOCKS = OFF" + (again ? ", DROP_EXISTING = ON" : "")
                + (table.online() ? ", ONLINE = ON" : "") + ")";
    }

    /** A text of the canonical script, with the names that its columns have now. */
    String physical(String text) {
        String result = text;
        for (Canonical.Column column : table.canonical().columns()) {
            Optional<Column> now = table.now(column.logical());
            if (now.isPresent()) {
                result = result.replaceAll(
                        "\\b" + column.name() + "\\b",
                        Matcher.quoteReplacement(now.get().name()));
            }
        }
        return result;
    }

    /** Whether a text has this name in it. */
    static boolean names(String text, String name) {
        return Pattern.compile("(?i)(?<!\\w)" + Pattern.quote(name) + "(?!\\w)")
                .matcher(text)
                .find();
    }

    /** Whether the migrations, or the installation, made the index of this name. */
    boolean isOurs(String index) {
        String prefix = table.name().name();
        List<String> suffixes = new ArrayList<>(FOR_A_WHILE);
        suffixes.addAll(List.of("_Order", table.inbox() ? "_Message" : "_Item"));
        table.canonical().indexes().forEach(own -> suffixes.add(own.suffix()));
        return suffixes.stream().anyMatch(own -> index.equalsIgnoreCase(prefix + own));
    }

    String deprecate(String old, String now) {
        return property(
                        "sp_addextendedproperty",
                        "MS_Description",
                        "N'Deprecated: read " + now + "; dropped in phase 4'")
                + ", @level2type = N'COLUMN', @level2name = N'" + old + "'";
    }

    /** Refuses a table that is in another phase, and rows that these are true of. */
    String guard(Phase from, Phase to, List<RowChecks.Check> checks) {
        StringBuilder guard = new StringBuilder();
        if (table.phase() != to) {
            guard.append(refuse(
                    from == Phase.LEGACY
                            ? says() + " IS NOT NULL"
                            : "COALESCE(" + says() + ", N'') NOT LIKE N'" + mark() + from.mark() + "%'",
                    "it must be in " + from + " to go to " + to));
        }
        checks.forEach(check -> guard.append(refuse(check)));
        return guard.isEmpty() ? "DECLARE @nothing int" : guard.toString();
    }

    /** Reads without locks, as the report does: a check that waited for every locked row might never end. */
    String refuse(RowChecks.Check check) {
        return refuse(
                "EXISTS (SELECT 1 FROM " + table.quoted() + " t WITH (READUNCOMMITTED) WHERE " + check.condition()
                        + ")",
                check.text());
    }

    String notYoung(Phase phase) {
        Duration noticed = options.noticed();
        return refuse(
                says() + " > CONCAT(N'" + mark() + phase.mark() + " since ', " + ago(noticed) + ", N'Z')",
                Readiness.tooRecent(phase, noticed));
    }

    /** The time so long ago, and a millisecond later, for times are rounded. */
    static String ago(Duration length) {
        return time("DATEADD(millisecond, " + (1 - length.toMillis()) + ", SYSUTCDATETIME())");
    }

    /** A time as texts have it, in milliseconds. */
    private static String time(String expression) {
        return "REPLACE(CONVERT(nvarchar(23), CAST(" + expression + " AS datetime2(3)), 126), N' ', N'T')";
    }

    private String refuse(String condition, String reason) {
        return """
                IF %s
                BEGIN;
                    THROW %d, %s, 1;
                END;
                """.formatted(condition, REFUSED, Literal.national("table " + table.name() + ": " + reason));
    }

    /** The phase according to the table's extended property. */
    private String says() {
        return "(SELECT CAST(p.value AS nvarchar(255)) FROM sys.extended_properties p WHERE p.class = 1 AND p.major_id = OBJECT_ID("
                + table.text() + ") AND p.minor_id = 0 AND p.name = N'dev.outbox')";
    }

    /** The property's text before the number of the phase. */
    private String mark() {
        return PhaseMarker.note(table.found().kind(), "");
    }

    String mark(Phase phase) {
        return """
                DECLARE @mark nvarchar(255);
                SET @mark = CONCAT(N'%s%s since ', %s, N'Z');
                %s""".formatted(
                        mark(),
                        phase.mark(),
                        time("SYSUTCDATETIME()"),
                        property(
                                !table.found().marked() ? "sp_addextendedproperty" : "sp_updateextendedproperty",
                                PhaseMarker.NAME,
                                "@mark"));
    }

    String markClean() {
        return property("sp_updateextendedproperty", PhaseMarker.NAME, "N'" + mark() + Phase.CLEAN.mark() + "'");
    }

    String property(String procedure, String name, String value) {
        return "EXEC " + procedure + " @name = N'" + name + "', @value = " + value + place();
    }

    String dropProperty(String name) {
        return "EXEC sp_dropextendedproperty @name = N'" + name + "'" + place();
    }

    private String place() {
        if (table.name().schema() == null) {
            throw new OutboxException("table \"" + table.name() + "\" has no schema");
        }
        return ", @level0type = N'SCHEMA', @level0name = "
                + Literal.national(table.name().schema()) + ", @level1type = N'TABLE', @level1name = "
                + Literal.national(table.name().name());
    }
}
