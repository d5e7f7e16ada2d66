package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.LegacyNames;
import dev.outbox.migrations.SqlServerLegacyTable.Column;
import dev.outbox.migrations.SqlServerLegacyTable.Index;
import dev.outbox.migrations.SqlServerLegacyTable.Renamed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes what takes an outbox table of SQL Server from one phase to the next and back, for what was found in it. What is
 * there already is left out, so that a phase that was interrupted goes on.
 *
 * <p>No trigger: while old applications write, one would break their OUTPUT (334). A column that only changes its name is
 * stored once, and the other name is a computed alias, so that old and new cannot differ. The flip turns that round in one
 * short transaction; it changes nothing but the catalog.
 */
final class SqlServerScript {
    private static final SqlServerCanonical CANONICAL = SqlServerCanonical.OUTBOX;

    /** The error of a script that refuses; its text is ours. */
    static final int REFUSED = 51_007;

    private final SqlServerLegacyTable table;
    private final Upgrade.Options options;
    private final SqlServerRows rows;

    SqlServerScript(SqlServerLegacyTable table, Upgrade.Options options) {
        this.table = table;
        this.options = options;
        this.rows = new SqlServerRows(table, options.quietFor());
    }

    List<Step> steps(Phase phase) {
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> additive();
            case DUAL -> dual();
            case FLIPPED -> table.phase() == Phase.FLIPPED ? List.of() : flip();
            case SETTLING -> List.of();
            case CLEAN -> table.phase() == Phase.CLEAN ? List.of() : clean();
        };
    }

    List<Step> stepsBack(Phase phase) {
        return switch (phase) {
            case LEGACY -> backToLegacy();
            case ADDITIVE -> List.of(Step.together(List.of(guard(Phase.DUAL, phase, rows.losses(phase)), mark(phase))));
            case DUAL -> backToDual();
            case FLIPPED, SETTLING, CLEAN ->
                throw new IllegalArgumentException("a table can go back to phase 0, 1 or 2, not to " + phase);
        };
    }

    /** Nullable columns and aliases: nothing is rewritten. New rows are numbered from now on, whoever inserts them. */
    private List<Step> additive() {
        List<String> change = new ArrayList<>();
        change.add(guard(Phase.LEGACY, Phase.ADDITIVE, List.of()));
        List<String> adds = new ArrayList<>();
        for (SqlServerCanonical.Column column : CANONICAL.columns()) {
            if (column.logical().equals("message_id") && table.changesMessageId()) {
                if (table.interim("message_id").isEmpty()) {
                    adds.add("[MessageIdNew] " + column.definition() + " NULL");
                }
            } else if (table.stored(column.logical()).isEmpty()) {
                adds.add("[" + column.name() + "] " + column.definition() + " NULL" + fallback(column));
            }
        }
        if (table.libraryToken().isEmpty()) {
            adds.add("[LibraryToken] uniqueidentifier NULL");
        }
        adds.forEach(column -> change.add("ALTER TABLE " + table.quoted() + " ADD " + column));
        for (SqlServerCanonical.Computed computed : CANONICAL.computed()) {
            if (!table.has(computed.name())) {
                change.add(
                        "ALTER TABLE " + table.quoted() + " ADD [" + computed.name() + "] AS " + computed.expression());
            }
        }
        change.addAll(aliases(Renamed::now, Renamed::old));
        change.add("ALTER TABLE " + table.quoted() + " SET (LOCK_ESCALATION = DISABLE)");
        change.add(mark(Phase.ADDITIVE));
        return List.of(
                Step.together(List.of(guard(Phase.LEGACY, Phase.ADDITIVE, blocking(Phase.ADDITIVE)), sequence())),
                Step.together(change));
    }

    private String fallback(SqlServerCanonical.Column column) {
        return column.constraint() == null
                ? ""
                : " CONSTRAINT " + table.own(column.constraint()) + " DEFAULT ("
                        + String.valueOf(column.fallback()).replace("\"TABLE_sequence\"", table.relation("_sequence"))
                        + ")";
    }

    /** Numbers below the start are for the rows that are there, and for those that come until the default does. */
    private String sequence() {
        return """
                IF OBJECT_ID(N'%1$s', N'SO') IS NULL
                BEGIN
                    DECLARE @start nvarchar(20), @create nvarchar(max);
                    SELECT @start = CAST(2 * COUNT_BIG(*) + 1000000 AS nvarchar(20)) FROM %2$s;
                    SET @create = CONCAT(N'CREATE SEQUENCE %1$s AS bigint START WITH ', @start, N' INCREMENT BY 1 CACHE 1');
                    EXEC sp_executesql @stmt = @create;
                END""".formatted(table.relation("_sequence"), table.quoted());
    }

    private interface Side {
        String of(Renamed renamed);
    }

    /** The other names, for readers; they cost nothing and cannot be written. */
    private List<String> aliases(Side alias, Side stored) {
        return table.renamed().stream()
                .filter(renamed -> !table.has(alias.of(renamed)))
                .map(renamed -> "ALTER TABLE " + table.quoted() + " ADD [" + alias.of(renamed) + "] AS ["
                        + stored.of(renamed) + "]")
                .toList();
    }

    private List<String> dropAliases() {
        return table.aliases().stream().map(this::dropColumn).toList();
    }

    private String dropColumn(String column) {
        return "ALTER TABLE " + table.quoted() + " DROP COLUMN [" + column + "]";
    }

    private String dropDefault(Column column) {
        return "ALTER TABLE " + table.quoted() + " DROP CONSTRAINT [" + column.fallback() + "]";
    }

    private String rename(String from, String to) {
        return "EXEC sp_rename @objname = N'%s.[%s]', @newname = N'%s', @objtype = N'COLUMN'"
                .formatted(table.quoted(), from, to);
    }

    /** Every row is complete: the columns say so, and the indexes are built. */
    private List<Step> dual() {
        List<String> changes = new ArrayList<>();
        for (String logical : List.of("sequence", "priority", "blocks_key")) {
            SqlServerCanonical.Column column = CANONICAL.column(logical);
            table.stored(logical)
                    .filter(Column::nullable)
                    .ifPresent(found -> changes.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN [" + found.name()
                            + "] " + column.definition() + " NOT NULL"
                            + (table.online() ? " WITH (ONLINE = ON)" : "")));
        }
        changes.addAll(index("_OrderNew", true, "(Sequence)"));
        CANONICAL.indexes().forEach(index -> changes.addAll(index(index.suffix(), index.unique(), index.body())));
        List<Step> steps = new ArrayList<>();
        if (table.phase() == Phase.ADDITIVE) {
            steps.add(Step.together(List.of(guard(Phase.ADDITIVE, Phase.DUAL, blocking(Phase.DUAL)))));
        }
        steps.add(Step.alone(changes));
        if (table.phase() == Phase.ADDITIVE) {
            steps.add(Step.together(List.of(guard(Phase.ADDITIVE, Phase.DUAL, List.of()), mark(Phase.DUAL))));
        }
        return steps;
    }

    /** Builds an index that is missing or was left disabled. */
    private List<String> index(String suffix, boolean unique, String body) {
        Index found = table.indexes().get(table.name().name() + suffix);
        if (found != null && !found.disabled()) {
            return List.of();
        }
        return List.of("CREATE " + (unique ? "UNIQUE " : "") + "INDEX " + table.own(suffix) + " ON " + table.quoted()
                + " "
                + physical(body) + " WITH (ALLOW_PAGE_LOCKS = OFF" + (found == null ? "" : ", DROP_EXISTING = ON")
                + (table.online() ? ", ONLINE = ON" : "") + ")");
    }

    /** A text of the canonical script, with the names that its columns have now. */
    private String physical(String text) {
        String result = text;
        for (SqlServerCanonical.Column column : CANONICAL.columns()) {
            Optional<Column> stored = table.stored(column.logical());
            if (stored.isPresent()) {
                result = result.replaceAll(
                        "\\b" + column.name() + "\\b",
                        Matcher.quoteReplacement(stored.get().name()));
            }
        }
        return result;
    }

    /** The new names are those that are written, from one moment to the next; the old ones are read. */
    private List<Step> flip() {
        List<String> change = new ArrayList<>();
        change.add(guard(Phase.DUAL, Phase.FLIPPED, List.of()));
        change.addAll(dropAliases());
        List<String> renamedOld = table.renamed().stream().map(Renamed::old).toList();
        table.indexes().values().stream()
                .filter(index -> renamedOld.stream().anyMatch(old -> names(index.filter(), old)))
                .forEach(index -> change.add("DROP INDEX [" + index.name() + "] ON " + table.quoted()));
        // Before they are renamed, and an alias has the name.
        for (String logical : List.of("payload", "message_id")) {
            table.stored(logical)
                    .filter(column -> !column.nullable())
                    .ifPresent(column -> change.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN [" + column.name()
                            + "] " + column.definition() + " NULL"));
        }
        for (Renamed renamed : table.renamed()) {
            change.add(rename(renamed.old(), renamed.now()));
        }
        for (Renamed renamed : table.renamed()) {
            change.add("ALTER TABLE " + table.quoted() + " ADD [" + renamed.old() + "] AS [" + renamed.now() + "]");
            change.add(deprecate(renamed.old(), renamed.now()));
        }
        change.add(mark(Phase.FLIPPED));
        return List.of(
                Step.together(List.of(
                        guard(Phase.DUAL, Phase.FLIPPED, blocking(Phase.FLIPPED)) + "\n" + notYoung(Phase.DUAL))),
                Step.together(change));
    }

    /** Whether a text has this name in it. */
    static boolean names(String text, String name) {
        return Pattern.compile("(?i)(?<!\\w)" + Pattern.quote(name) + "(?!\\w)")
                .matcher(text)
                .find();
    }

    private String deprecate(String old, String now) {
        return property(
                        "sp_addextendedproperty",
                        "MS_Description",
                        "N'Deprecated: read " + now + "; dropped in phase 4'")
                + ", @level2type = N'COLUMN', @level2name = N'" + old + "'";
    }

    /** What is old goes, and the rest becomes as if freshly installed. */
    private List<Step> clean() {
        List<String> drop = new ArrayList<>();
        drop.add(guard(Phase.FLIPPED, Phase.CLEAN, List.of()));
        drop.addAll(oldIndexes());
        drop.addAll(dropAliases());
        table.processed().ifPresent(column -> drop.addAll(remove(column)));
        table.libraryToken().ifPresent(column -> drop.addAll(remove(column)));
        if (table.interim("message_id").isPresent()) {
            table.stored("message_id").ifPresent(column -> drop.addAll(remove(column)));
            drop.add(rename("MessageIdNew", "MessageId"));
        }
        defaults(drop);
        List<String> rebuild = new ArrayList<>();
        rebuild.addAll(cluster());
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(
                List.of(guard(Phase.FLIPPED, Phase.CLEAN, blocking(Phase.CLEAN)) + "\n" + notYoung(Phase.FLIPPED))));
        steps.add(Step.together(drop));
        steps.add(Step.alone(rebuild));
        List<String> end = new ArrayList<>();
        end.add(guard(Phase.FLIPPED, Phase.CLEAN, List.of()));
        for (SqlServerCanonical.Check check : CANONICAL.checks()) {
            end.add("IF OBJECT_ID(N'" + table.relation(check.suffix()) + "', N'C') IS NULL ALTER TABLE "
                    + table.quoted() + " ADD CONSTRAINT " + table.own(check.suffix()) + " CHECK ("
                    + check.condition() + ")");
        }
        end.add(property("sp_updateextendedproperty", "dev.outbox", "N'phase 4'"));
        steps.add(Step.together(end));
        return steps;
    }

    private List<String> remove(Column column) {
        List<String> statements = new ArrayList<>();
        if (column.fallback() != null) {
            statements.add(dropDefault(column));
        }
        statements.add(dropColumn(column.name()));
        return statements;
    }

    /** Indexes of the old application: those that hold a column that goes, or that had another name. */
    private List<String> oldIndexes() {
        List<String> named =
                new ArrayList<>(table.renamed().stream().map(Renamed::now).toList());
        table.processed().ifPresent(column -> named.add(column.name()));
        if (table.interim("message_id").isPresent()) {
            table.stored("message_id").ifPresent(column -> named.add(column.name()));
        }
        return table.indexes().values().stream()
                .filter(index -> !index.primaryKey() && !isOurs(index.name()))
                .filter(index -> index.columns().stream()
                        .anyMatch(column -> named.stream().anyMatch(column::equalsIgnoreCase)))
                .map(index -> index.constraint()
                        ? "ALTER TABLE " + table.quoted() + " DROP CONSTRAINT [" + index.name() + "]"
                        : "DROP INDEX [" + index.name() + "] ON " + table.quoted())
                .toList();
    }

    private boolean isOurs(String index) {
        String prefix = table.name().name();
        return List.of("_Order", "_OrderNew", "_Item", "_ItemNew").stream()
                        .anyMatch(own -> index.equalsIgnoreCase(prefix + own))
                || CANONICAL.indexes().stream().anyMatch(own -> index.equalsIgnoreCase(prefix + own.suffix()));
    }

    /** Defaults as the canonical table has them, and texts as long as it has them. */
    private void defaults(List<String> statements) {
        for (SqlServerCanonical.Column column : CANONICAL.columns()) {
            Column found = table.stored(column.logical()).orElse(null);
            String wanted = column.constraint() == null ? null : table.name().name() + column.constraint();
            if (found == null || column.logical().equals("message_id")) {
                continue;
            }
            if (found.fallback() != null && !found.fallback().equalsIgnoreCase(wanted)) {
                statements.add(dropDefault(found));
            }
            if (wanted != null && !wanted.equalsIgnoreCase(found.fallback())) {
                statements.add(
                        "ALTER TABLE " + table.quoted() + " ADD" + fallback(column) + " FOR [" + found.name() + "]");
            }
            if (List.of("processed_by", "correlation_id").contains(column.logical())
                    && !found.definition().equals(column.definition())) {
                statements.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN [" + found.name() + "] "
                        + column.definition() + " NULL");
            }
        }
    }

    /** In the order of the sequence, as a new table is; the id is unique all the while. */
    private List<String> cluster() {
        Map<String, Index> indexes = table.indexes();
        String name = table.name().name();
        String online = table.online() ? ", ONLINE = ON" : "";
        List<String> statements = new ArrayList<>();
        Optional<Index> key =
                indexes.values().stream().filter(Index::primaryKey).findFirst();
        boolean done =
                key.map(index -> index.name().equalsIgnoreCase(name + "_Item")).orElse(false);
        if (!done && !indexes.containsKey(name + "_ItemNew")) {
            statements.add("CREATE UNIQUE INDEX " + table.own("_ItemNew") + " ON " + table.quoted()
                    + " (WorkItemId) WITH (ALLOW_PAGE_LOCKS = OFF" + online + ")");
        }
        if (!done) {
            key.ifPresent(index -> statements.add("ALTER TABLE " + table.quoted() + " DROP CONSTRAINT [" + index.name()
                    + "]" + (index.clustered() && table.online() ? " WITH (ONLINE = ON)" : "")));
        }
        if (!indexes.containsKey(name + "_Order")) {
            statements.add("ALTER TABLE " + table.quoted() + " ADD CONSTRAINT " + table.own("_Order")
                    + " UNIQUE CLUSTERED (Sequence) WITH (ALLOW_PAGE_LOCKS = OFF" + online + ")");
        }
        if (!done) {
            statements.add("ALTER TABLE " + table.quoted() + " ADD CONSTRAINT " + table.own("_Item")
                    + " PRIMARY KEY NONCLUSTERED (WorkItemId)" + (table.online() ? " WITH (ONLINE = ON)" : ""));
        }
        if (!done || indexes.containsKey(name + "_ItemNew")) {
            statements.add("DROP INDEX " + table.own("_ItemNew") + " ON " + table.quoted());
        }
        if (indexes.containsKey(name + "_OrderNew")) {
            statements.add("DROP INDEX " + table.own("_OrderNew") + " ON " + table.quoted());
        }
        return statements;
    }

    /** The old names are written again. */
    private List<Step> backToDual() {
        List<String> change = new ArrayList<>();
        change.add(guard(Phase.FLIPPED, Phase.DUAL, rows.losses(Phase.DUAL)));
        change.addAll(dropAliases());
        for (Renamed renamed : table.renamed()) {
            change.add(rename(renamed.now(), renamed.old()));
        }
        for (Renamed renamed : table.renamed()) {
            change.add("ALTER TABLE " + table.quoted() + " ADD [" + renamed.now() + "] AS [" + renamed.old() + "]");
        }
        change.add(mark(Phase.DUAL));
        return List.of(Step.together(change));
    }

    /** Takes away what phase 1 added. */
    private List<Step> backToLegacy() {
        List<String> change = new ArrayList<>();
        change.add(guard(Phase.ADDITIVE, Phase.LEGACY, rows.losses(Phase.LEGACY)));
        change.addAll(dropAliases());
        table.indexes().values().stream()
                .filter(index -> isOurs(index.name()))
                .forEach(index -> change.add("DROP INDEX [" + index.name() + "] ON " + table.quoted()));
        CANONICAL.computed().stream()
                .filter(computed -> table.has(computed.name()))
                .forEach(computed -> change.add(dropColumn(computed.name())));
        for (SqlServerCanonical.Column column : CANONICAL.columns()) {
            if (!LegacyNames.OUTBOX.known().contains(column.logical())
                    && !List.of("processed_by", "correlation_id").contains(column.logical())) {
                table.stored(column.logical()).ifPresent(found -> change.addAll(remove(found)));
            }
        }
        table.interim("message_id").ifPresent(column -> change.addAll(remove(column)));
        table.libraryToken().ifPresent(column -> change.addAll(remove(column)));
        change.add("DROP SEQUENCE IF EXISTS " + table.relation("_sequence"));
        change.add("DROP TABLE IF EXISTS " + table.relation("_backfill"));
        change.add("EXEC sp_dropextendedproperty @name = N'dev.outbox'" + place());
        return List.of(Step.together(change));
    }

    private List<SqlServerRows.Check> blocking(Phase phase) {
        return rows.checks().stream()
                .filter(check -> check.blocks().contains(phase))
                .toList();
    }

    /** Refuses a table that is in another phase, and rows that these are true of. */
    private String guard(Phase from, Phase to, List<SqlServerRows.Check> checks) {
        StringBuilder guard = new StringBuilder();
        if (table.phase() != to) {
            guard.append(refuse(
                    from == Phase.LEGACY
                            ? says() + " IS NOT NULL"
                            : "COALESCE(" + says() + ", N'') NOT LIKE N'phase " + from.mark() + "%'",
                    "it must be in " + from + " to go to " + to));
        }
        for (SqlServerRows.Check check : checks) {
            guard.append(refuse(
                    "EXISTS (SELECT 1 FROM " + table.quoted() + " t WHERE " + check.condition() + ")", check.text()));
        }
        return guard.isEmpty() ? "DECLARE @nothing int" : guard.toString();
    }

    private String notYoung(Phase phase) {
        return refuse(
                says() + " > CONCAT(N'phase " + phase.mark() + " since ', " + ago(noticed()) + ", N'Z')",
                Guard.young(phase, noticed()));
    }

    /** The time so long ago, and a millisecond later, for times are rounded. */
    static String ago(Duration length) {
        return time("DATEADD(millisecond, " + (1 - length.toMillis()) + ", SYSUTCDATETIME())");
    }

    /** A time as texts have it, in milliseconds. */
    private static String time(String expression) {
        return "REPLACE(CONVERT(nvarchar(23), CAST(" + expression + " AS datetime2(3)), 126), N' ', N'T')";
    }

    private Duration noticed() {
        return options.refreshInterval().multipliedBy(2);
    }

    private String refuse(String condition, String reason) {
        return """
                IF %s
                BEGIN;
                    THROW %d, N'%s', 1;
                END;
                """.formatted(condition, REFUSED, ("table " + table.name() + ": " + reason).replace("'", "''"));
    }

    /** What the table says of its phase. */
    private String says() {
        return "(SELECT CAST(p.value AS nvarchar(255)) FROM sys.extended_properties p WHERE p.class = 1 AND p.major_id = OBJECT_ID(N'"
                + table.quoted() + "') AND p.minor_id = 0 AND p.name = N'dev.outbox')";
    }

    private String mark(Phase phase) {
        return """
                DECLARE @mark nvarchar(255);
                SET @mark = CONCAT(N'phase %s since ', %s, N'Z');
                %s""".formatted(
                        phase.mark(),
                        time("SYSUTCDATETIME()"),
                        property(
                                table.marker().isEmpty() ? "sp_addextendedproperty" : "sp_updateextendedproperty",
                                "dev.outbox",
                                "@mark"));
    }

    private String property(String procedure, String name, String value) {
        return "EXEC " + procedure + " @name = N'" + name + "', @value = " + value + place();
    }

    private String place() {
        if (table.name().schema() == null) {
            throw new OutboxException("table \"" + table.name() + "\" has no schema");
        }
        return ", @level0type = N'SCHEMA', @level0name = N'" + table.name().schema()
                + "', @level1type = N'TABLE', @level1name = N'" + table.name().name() + "'";
    }
}
