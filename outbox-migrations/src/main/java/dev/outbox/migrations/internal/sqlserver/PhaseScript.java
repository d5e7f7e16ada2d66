package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.SqlServerCatalog;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import dev.outbox.migrations.internal.sqlserver.LegacyTable.Renamed;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes what takes a table from one phase to the next, for the columns that were found in it. Parts that exist already are
 * left out, so that a phase that was interrupted goes on. The last phase is in {@link CleanScript}, the way back in
 * {@link BackScript}.
 *
 * <p>No trigger: while old applications write, one would break their OUTPUT (334). A column that only changes its name is
 * stored once, and the other name is a computed alias, so that old and new cannot differ. The flip turns that round in one
 * short transaction; it changes nothing but the catalog.
 */
final class PhaseScript {
    /** Columns without a default in the canonical table, which old applications do not fill; their defaults go in phase 4. */
    private static final List<String> FILLED_FOR_OLD = List.of("work_item_id", "consumer", "message_id", "source");

    /** Conditions on the status of a row that is not finished, as in the filters of indexes. */
    private static final List<String> UNFINISHED = List.of("= 0 AND [MessageKey] IS NULL", "= 1");

    private final LegacyTable table;
    private final Canonical canonical;
    private final TableSql sql;
    private final RowChecks rows;

    PhaseScript(LegacyTable table, UpgradeOptions options) {
        this.table = table;
        this.canonical = table.canonical();
        this.sql = new TableSql(table, options);
        this.rows = new RowChecks(table, options.quietFor());
    }

    List<Step> steps(Phase phase) {
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> additive();
            case DUAL -> dual();
            case FLIPPED -> table.phase() == Phase.FLIPPED ? List.of() : flip();
            case RENAMING -> List.of();
            case CLEAN -> table.phase() == Phase.CLEAN ? List.of() : new CleanScript(table, sql, rows).steps();
        };
    }

    /** Adds nullable columns and aliases, so that no row is rewritten. New rows are numbered from now on, old applications' too. */
    private List<Step> additive() {
        List<String> change = new ArrayList<>();
        change.add(sql.guard(Phase.LEGACY, Phase.ADDITIVE, List.of()));
        for (Canonical.Column column : canonical.columns()) {
            boolean changes = table.changes(column.logical());
            if (changes
                    ? table.interim(column.logical()).isEmpty()
                    : table.stored(column.logical()).isEmpty()) {
                String name = changes ? LegacyTable.interimName(column) : column.name();
                change.add(sql.alter("ADD [" + name + "] " + column.definition() + " NULL" + fallback(column)));
            }
        }
        if (table.libraryToken().isEmpty()) {
            change.add(sql.alter("ADD [LibraryToken] uniqueidentifier NULL"));
        }
        if (!table.has("ExactKey")) {
            change.add(sql.alter("ADD [ExactKey] AS "
                    + canonical.computed("ExactKey").orElseThrow().expression()));
        }
        table.renamed().stream()
                .filter(renamed -> !table.has(renamed.now()))
                .forEach(renamed -> change.add(sql.alias(renamed.now(), renamed.old())));
        if (table.inbox()) {
            change.addAll(inboxOnly());
        }
        change.add(sql.alter("SET (LOCK_ESCALATION = DISABLE)"));
        change.add(sql.mark(Phase.ADDITIVE));
        return List.of(
                Step.together(
                        List.of(sql.guard(Phase.LEGACY, Phase.ADDITIVE, rows.blocking(Phase.ADDITIVE)), sequence())),
                Step.together(change));
    }

    private List<String> inboxOnly() {
        List<String> change = new ArrayList<>();
        if (!table.has(LegacyTable.DIFFERS)) {
            change.add(sql.differs());
        }
        if (!table.found().marked()) {
            change.add(sql.property("sp_addextendedproperty", SqlServerCatalog.CONSUMER, consumer()));
        }
        return change;
    }

    private String consumer() {
        return Literal.national(String.valueOf(table.consumer()));
    }

    /** As the canonical table has it, or so that a row that an old application stores can be told from a complete one. */
    private String fallback(Canonical.Column column) {
        if (!table.inbox() || !FILLED_FOR_OLD.contains(column.logical())) {
            return sql.fallback(column);
        }
        return switch (column.logical()) {
            case "work_item_id" -> sql.fallback("_NewItem", "NEWID()");
            case "consumer" -> sql.fallback("_OneConsumer", consumer());
            case "message_id" -> sql.fallback("_NoMessageId", "N''");
            default -> sql.fallback("_NoSource", "N''");
        };
    }

    /**
     * Numbers below the start are for the rows that are there, and for those that come until the default does. The
     * catalog knows about how many there are, without waiting for those that hold some.
     */
    private String sequence() {
        return """
                IF OBJECT_ID(%1$s, N'SO') IS NULL
                BEGIN
                    DECLARE @start nvarchar(20), @create nvarchar(max);
                    SELECT @start = CAST(2 * COALESCE(SUM(p.rows), 0) + 1000000 AS nvarchar(20))
                    FROM sys.partitions p WHERE p.object_id = OBJECT_ID(%2$s) AND p.index_id IN (0, 1);
                    SET @create = CONCAT(N'CREATE SEQUENCE %3$s AS bigint START WITH ', @start, N' INCREMENT BY 1 CACHE 1');
                    EXEC sp_executesql @stmt = @create;
                END""".formatted(
                        Literal.national(table.relation("_sequence")),
                        table.text(),
                        table.relation("_sequence").replace("'", "''"));
    }

    /** Every row is complete: the columns say so, and the indexes are built. */
    private List<Step> dual() {
        List<Step> steps = new ArrayList<>();
        if (table.phase() == Phase.ADDITIVE) {
            steps.add(Step.together(List.of(sql.guard(Phase.ADDITIVE, Phase.DUAL, rows.blocking(Phase.DUAL)))));
        }
        List<String> notNull = notNull();
        // A column that a computed one reads cannot be changed (5074).
        boolean again = table.inbox() && !notNull.isEmpty();
        if (again) {
            steps.add(Step.together(sql.dropDiffers()));
        }
        steps.add(Step.alone(notNull));
        if (again || (table.inbox() && !table.has(LegacyTable.DIFFERS))) {
            steps.add(Step.together(List.of(sql.differs())));
        }
        List<String> indexes = new ArrayList<>(sql.index("_OrderNew", true, "(Sequence)"));
        canonical
                .indexes()
                .forEach(
                        index -> indexes.addAll(sql.index(index.suffix(), index.unique(), sql.physical(index.body()))));
        if (table.inbox()) {
            String body = "(" + LegacyTable.DIFFERS + ")";
            indexes.addAll(
                    again ? List.of(sql.build("_Differs", false, body, false)) : sql.index("_Differs", false, body));
        }
        steps.add(Step.alone(indexes));
        if (table.phase() == Phase.ADDITIVE) {
            steps.add(Step.together(List.of(sql.guard(Phase.ADDITIVE, Phase.DUAL, List.of()), sql.mark(Phase.DUAL))));
        }
        return steps;
    }

    private List<String> notNull() {
        List<String> changes = new ArrayList<>();
        for (String logical : table.filled()) {
            table.now(logical)
                    .filter(Column::nullable)
                    .ifPresent(found -> changes.add(sql.alter("ALTER COLUMN [" + found.name() + "] "
                            + canonical.column(logical).definition() + " NOT NULL"
                            + (table.online() ? " WITH (ONLINE = ON)" : ""))));
        }
        return changes;
    }

    /** The new names are those that are written, from one moment to the next; the old ones are read. */
    private List<Step> flip() {
        List<String> change = new ArrayList<>();
        change.add(sql.guard(Phase.DUAL, Phase.FLIPPED, List.of()));
        change.addAll(table.inbox() ? nothingDiffers() : nothingArrived());
        change.addAll(sql.dropAliases());
        List<String> renamedOld = table.renamed().stream().map(Renamed::old).toList();
        table.indexes().values().stream()
                .filter(index -> renamedOld.stream().anyMatch(old -> TableSql.names(index.filter(), old)))
                .forEach(index -> change.add(sql.dropIndex(index.name())));
        // Before they are renamed, and an alias has the name.
        // A message id of another type goes in phase 4, and may be unique until then.
        for (String logical : table.changes("message_id") ? List.of("payload") : List.of("payload", "message_id")) {
            table.stored(logical)
                    .filter(column -> !column.nullable())
                    .ifPresent(column -> change.add(sql.alter(
                            "ALTER COLUMN [" + column.name() + "] " + LegacyTable.collated(column) + " NULL")));
        }
        change.addAll(sql.rename(Renamed::old, Renamed::now));
        for (Renamed renamed : table.renamed()) {
            change.add(sql.alias(renamed.old(), renamed.now()));
            change.add(sql.deprecate(renamed.old(), renamed.now()));
        }
        change.add(sql.mark(Phase.FLIPPED));
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                sql.guard(Phase.DUAL, Phase.FLIPPED, rows.blocking(Phase.FLIPPED)) + "\n" + sql.notYoung(Phase.DUAL))));
        if (table.inbox()) {
            steps.add(Step.alone(forgetUnfinishedArrivals()));
        }
        steps.add(Step.together(change));
        return steps;
    }

    /** As in an inbox: finds the rows that arrived after the first check, under the lock. */
    private List<String> nothingArrived() {
        List<String> statements = new ArrayList<>(List.of(lock()));
        rows.arrived().forEach(check -> statements.add(sql.refuse(check)));
        return statements;
    }

    /** Takes the schema lock and keeps it, so that no other session can write any more. */
    private String lock() {
        return sql.alter("SET (LOCK_ESCALATION = DISABLE)");
    }

    private List<String> nothingDiffers() {
        List<String> statements = new ArrayList<>(List.of(lock()));
        statements.add(sql.refuse(rows.stale()));
        for (String unfinished : UNFINISHED) {
            statements.add("DELETE FROM %s WHERE %s IS NULL AND %s %s"
                    .formatted(table.quoted(), rows.column("topic"), rows.column("status"), unfinished));
        }
        statements.addAll(sql.dropDiffers());
        return statements;
    }

    /**
     * Deletes arrivals that are not processed and have no topic to handle them by: the next arrival counts as the first. In
     * small transactions, by the indexes of ready and leased rows; locked rows are left to the flip.
     */
    private List<String> forgetUnfinishedArrivals() {
        return UNFINISHED.stream()
                .map(unfinished ->
                        """
                        DECLARE @removed int = 1;
                        WHILE @removed > 0
                        BEGIN
                            DELETE FROM %1$s WHERE %2$s IS NULL AND %3$s %4$s AND [Sequence] IN (
                                SELECT TOP (1000) [Sequence] FROM %1$s WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                                WHERE %2$s IS NULL AND %3$s %4$s);
                            SET @removed = @@ROWCOUNT;
                        END""".formatted(table.quoted(), rows.column("topic"), rows.column("status"), unfinished))
                .toList();
    }
}
