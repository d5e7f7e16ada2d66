package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.SqlServerCatalog;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.sqlserver.LegacyTable.Renamed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Writes what takes a table to phase 4: what is old goes, and the rest becomes as if freshly installed.
 *
 * <p>An inbox has its new status under another name than in the end, and a column that the filter of an index names
 * cannot be renamed (15336). So its indexes are built once more, after the table was clustered anew; until then indexes
 * without a filter serve claims and settles. The same holds for the computed columns of its identity, which are there
 * only now; until then the message id stays unique by itself.
 */
final class CleanScript {
    private final LegacyTable table;
    private final Canonical canonical;
    private final TableSql sql;
    private final RowChecks rows;

    CleanScript(LegacyTable table, TableSql sql, RowChecks rows) {
        this.table = table;
        this.canonical = table.canonical();
        this.sql = sql;
        this.rows = rows;
    }

    List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(sql.guard(Phase.FLIPPED, Phase.CLEAN, rows.blocking(Phase.CLEAN)) + "\n"
                + sql.notYoung(Phase.FLIPPED))));
        if (table.inbox()) {
            steps.add(Step.alone(bridge()));
            steps.add(Step.alone(uncluster()));
            steps.add(Step.alone(clusterInbox()));
            steps.add(Step.together(drop()));
            steps.add(Step.alone(rebuildInbox()));
        } else {
            steps.add(Step.alone(uncluster()));
            steps.add(Step.together(drop()));
            steps.add(Step.alone(clusterOutbox()));
        }
        steps.add(Step.alone(checks()));
        List<String> end = new ArrayList<>();
        end.add(sql.guard(Phase.FLIPPED, Phase.CLEAN, List.of()));
        if (table.inbox()) {
            end.add(sql.dropProperty(SqlServerCatalog.CONSUMER));
        }
        end.add(sql.markClean());
        steps.add(Step.together(end));
        return steps;
    }

    /** Each reads the whole table under a lock: one by one, so that other sessions get their turn in between. */
    private List<String> checks() {
        return canonical.checks().stream()
                .map(check -> "IF OBJECT_ID(" + Literal.national(table.relation(check.suffix())) + ", N'C') IS NULL "
                        + sql.alter(
                                "ADD CONSTRAINT " + table.own(check.suffix()) + " CHECK (" + check.condition() + ")"))
                .toList();
    }

    private List<String> drop() {
        List<String> drop = new ArrayList<>();
        drop.add(sql.guard(Phase.FLIPPED, Phase.CLEAN, List.of()));
        drop.addAll(oldIndexes());
        drop.addAll(sql.dropAliases());
        table.processed().ifPresent(column -> drop.addAll(sql.remove(column)));
        table.libraryToken().ifPresent(column -> drop.addAll(sql.remove(column)));
        for (String logical : table.interims()) {
            Column old = table.stored(logical).orElseThrow();
            table.checks().forEach((name, condition) -> {
                String drops = sql.alter("DROP CONSTRAINT [" + name + "]");
                if (TableSql.names(condition, old.name()) && !drop.contains(drops)) {
                    drop.add(drops);
                }
            });
            drop.addAll(sql.remove(old));
        }
        for (Canonical.Column column : canonical.columns()) {
            table.interim(column.logical()).ifPresent(interim -> drop.add(sql.rename(interim.name(), column.name())));
        }
        defaults(drop);
        return drop;
    }

    /** Indexes of the old application: those that hold a column that goes, or that had another name. */
    private List<String> oldIndexes() {
        List<String> named =
                new ArrayList<>(table.renamed().stream().map(Renamed::now).toList());
        table.processed().ifPresent(column -> named.add(column.name()));
        table.interims().forEach(logical -> table.stored(logical).ifPresent(column -> named.add(column.name())));
        return table.indexes().values().stream()
                .filter(index -> !index.primaryKey() && !index.clustered() && !sql.isOurs(index.name()))
                .filter(index -> named.stream()
                        .anyMatch(name -> TableSql.names(index.filter(), name)
                                || index.columns().stream().anyMatch(name::equalsIgnoreCase)))
                .map(this::dropOld)
                .toList();
    }

    private String dropOld(Index index) {
        return index.constraint() ? sql.alter("DROP CONSTRAINT [" + index.name() + "]") : sql.dropIndex(index.name());
    }

    /** Defaults as the canonical table has them, and texts as long as it has them. */
    private void defaults(List<String> statements) {
        for (Canonical.Column column : canonical.columns()) {
            Column found = table.now(column.logical()).orElse(null);
            String wanted = column.constraint() == null ? null : table.name().name() + column.constraint();
            if (found == null || (!table.inbox() && column.logical().equals("message_id"))) {
                continue;
            }
            if (found.defaultName() != null && !found.defaultName().equalsIgnoreCase(wanted)) {
                statements.add(sql.dropDefault(found));
            }
            if (wanted != null && !wanted.equalsIgnoreCase(found.defaultName())) {
                String renamed = table.interim(column.logical()).isPresent() ? column.name() : found.name();
                statements.add(sql.alter("ADD" + sql.fallback(column) + " FOR [" + renamed + "]"));
            }
            longer(column, found).ifPresent(statements::add);
        }
    }

    /** Texts become as long as the library asks, which changes the catalog only; a collation that is not ours stays. */
    private Optional<String> longer(Canonical.Column column, Column found) {
        int limit = column.logical().equals("last_error") ? 2_000 : 255;
        return List.of("processed_by", "correlation_id", "topic", "last_error").contains(column.logical())
                        && found.characters() < limit
                ? Optional.of(sql.alter(
                        "ALTER COLUMN [" + found.name() + "] " + LegacyTable.collated(found, "nvarchar(" + limit + ")")
                                + (found.nullable() ? " NULL" : " NOT NULL")))
                : Optional.empty();
    }

    /** A clustered index other than the key: there can be only one, and to drop it rewrites the table. */
    private List<String> uncluster() {
        return table.indexes().values().stream()
                .filter(index -> index.clustered() && !index.primaryKey() && !sql.isOurs(index.name()))
                .map(index -> dropOld(index) + (table.online() ? " WITH (ONLINE = ON)" : ""))
                .toList();
    }

    /** In the order of the sequence, as a new table is; the id is unique all the while. */
    private List<String> clusterOutbox() {
        String name = table.name().name();
        List<String> statements = new ArrayList<>();
        boolean done = key().map(index -> index.name().equalsIgnoreCase(name + "_Item"))
                .orElse(false);
        if (!done) {
            statements.addAll(sql.index("_ItemNew", true, "(WorkItemId)"));
            key().ifPresent(index -> statements.add(dropKey(index)));
        }
        if (!table.indexes().containsKey(name + "_Order")) {
            statements.add(sql.alter("ADD CONSTRAINT " + table.own("_Order")
                    + " UNIQUE CLUSTERED (Sequence) WITH (ALLOW_PAGE_LOCKS = OFF" + online() + ")"));
        }
        if (!done) {
            statements.add(sql.alter("ADD CONSTRAINT " + table.own("_Item") + " PRIMARY KEY NONCLUSTERED (WorkItemId)"
                    + (table.online() ? " WITH (ONLINE = ON)" : "")));
        }
        if (!done || table.indexes().containsKey(name + "_ItemNew")) {
            statements.add(sql.dropIndex(name + "_ItemNew"));
        }
        statements.addAll(dropIfThere("_OrderNew"));
        return statements;
    }

    private Optional<Index> key() {
        return table.indexes().values().stream().filter(Index::primaryKey).findFirst();
    }

    private String dropKey(Index key) {
        return sql.alter("DROP CONSTRAINT [" + key.name() + "]"
                + (key.clustered() && table.online() ? " WITH (ONLINE = ON)" : ""));
    }

    private String online() {
        return table.online() ? ", ONLINE = ON" : "";
    }

    private List<String> dropIfThere(String suffix) {
        String index = table.name().name() + suffix;
        return table.indexes().containsKey(index) ? List.of(sql.dropIndex(index)) : List.of();
    }

    /** Builds indexes that serve while the others are missing, and drops those, before each is built anew with the table. */
    private List<String> bridge() {
        List<String> statements = new ArrayList<>();
        if (!table.interims().isEmpty()) {
            statements.addAll(sql.index("_StatusNew", false, sql.physical("(Consumer, Status, Sequence)")));
            statements.addAll(sql.index("_ItemNew", false, "(WorkItemId)"));
            statements.addAll(sql.index("_MessageNew", true, sql.physical("(MessageId)")));
            canonical.indexes().forEach(index -> statements.addAll(dropIfThere(index.suffix())));
        }
        return statements;
    }

    private List<String> clusterInbox() {
        List<String> statements = new ArrayList<>();
        Optional<Index> key = key();
        if (key.map(index -> index.name().equalsIgnoreCase(table.name().name() + "_Order"))
                .orElse(false)) {
            return statements;
        }
        key.ifPresent(index -> statements.add(dropKey(index)));
        statements.add(sql.alter("ADD CONSTRAINT " + table.own("_Order")
                + " PRIMARY KEY CLUSTERED (Sequence) WITH (ALLOW_PAGE_LOCKS = OFF" + online() + ")"));
        return statements;
    }

    private List<String> rebuildInbox() {
        List<String> statements = new ArrayList<>();
        canonical.computed().stream()
                .filter(computed -> !table.has(computed.name()))
                .forEach(computed ->
                        statements.add(sql.alter("ADD [" + computed.name() + "] AS " + computed.expression())));
        if (!table.indexes().containsKey(table.name().name() + "_Message")) {
            statements.add(sql.alter("ADD CONSTRAINT " + table.own("_Message")
                    + " UNIQUE NONCLUSTERED (Consumer, ExactSource, ExactMessageId)"
                    + (table.online() ? " WITH (ONLINE = ON)" : "")));
        }
        for (Canonical.Index index : canonical.indexes()) {
            if (table.interims().isEmpty()) {
                statements.addAll(sql.index(index.suffix(), index.unique(), index.body()));
            } else { // dropped by then
                statements.add(sql.build(index.suffix(), index.unique(), index.body(), false));
            }
        }
        for (String suffix : List.of("_StatusNew", "_ItemNew", "_MessageNew")) {
            statements.addAll(
                    table.interims().isEmpty()
                            ? dropIfThere(suffix)
                            : List.of(sql.dropIndex(table.name().name() + suffix)));
        }
        statements.addAll(dropIfThere("_OrderNew"));
        return statements;
    }
}
