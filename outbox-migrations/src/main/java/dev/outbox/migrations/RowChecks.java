package dev.outbox.migrations;

import dev.outbox.migrations.Canonical.Column;
import dev.outbox.migrations.Finding.Concern;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a report looks for in the rows of a table, all in one pass over them. */
final class RowChecks {
    /** @param text for people, after the number of rows */
    private record RowCheck(Concern concern, String text, String condition, boolean wrong, Set<Phase> blocks) {}

    private final LegacyTable table;
    private final TableSql sql;
    private final List<RowCheck> checks = new ArrayList<>();

    RowChecks(LegacyTable table, @Nullable String consumer, Upgrade.Options options) {
        this.table = table;
        this.sql = new TableSql(table, options);
        switch (table.phase()) {
            case LEGACY -> contradictions();
            case ADDITIVE, DUAL -> {
                incomplete(consumer);
                differences();
                rules();
                oldWriters(options);
            }
            case FLIPPED, SETTLING -> {
                incomplete(consumer);
                differences();
            }
            case CLEAN -> {}
        }
    }

    List<Finding> findings(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        if (checks.isEmpty()) {
            return findings;
        }
        List<String> counts = checks.stream()
                .map(check -> "count(*) FILTER (WHERE " + check.condition + ")")
                .toList();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT " + String.join(",\n", counts) + "\nFROM " + table.quoted() + " t")) {
            row.next();
            for (int i = 0; i < checks.size(); i++) {
                RowCheck check = checks.get(i);
                long rows = row.getLong(i + 1);
                if (rows > 0) {
                    findings.add(
                            new Finding(check.concern, rows + " rows " + check.text, rows, check.wrong, check.blocks));
                }
            }
        }
        return findings;
    }

    private void contradictions() {
        if (table.processed() != null) {
            Pair status = table.pair("status");
            checks.add(new RowCheck(
                    Concern.DIFFERENT,
                    "have a " + table.processed() + " that contradicts their status; the backfill will make them Done",
                    "t.%1$s < 2 AND t.%2$s OR t.%1$s = 2 AND NOT t.%2$s"
                            .formatted(
                                    Quoted.name(status == null ? "status" : status.old()),
                                    Quoted.name(table.processed())),
                    false,
                    Set.of()));
        }
    }

    private void incomplete(@Nullable String consumer) {
        boolean settling = !table.settled().isEmpty();
        checks.add(new RowCheck(
                Concern.NOT_BACKFILLED,
                "are not backfilled; run the backfill",
                new BackfillStatements(table, consumer).condition(),
                settling ? table.phase() == Phase.SETTLING : table.phase() != Phase.ADDITIVE,
                settling ? Set.of(Phase.CLEAN) : Set.of(Phase.DUAL, Phase.FLIPPED, Phase.SETTLING)));
    }

    /** While names settle, what differs is what is not backfilled. */
    private void differences() {
        if (!table.settled().isEmpty()) {
            return;
        }
        List<String> differences = new ArrayList<>();
        for (Pair pair : table.pairs()) {
            differences.add("t.%s IS DISTINCT FROM %s"
                    .formatted(
                            Quoted.name(pair.old()),
                            pair.toOld("t." + Quoted.name(pair.now()), "t." + sql.now("work_item_id"))));
        }
        if (table.processed() != null) {
            differences.add("t.%1$s <> (t.%2$s = 2) AND t.%2$s <> 3"
                    .formatted(Quoted.name(table.processed()), sql.now("status")));
        }
        if (!differences.isEmpty()) {
            checks.add(new RowCheck(
                    Concern.DIFFERENT,
                    "say one thing in old columns and another in new ones; compare them, and write one side again",
                    "t.sequence IS NOT NULL AND (" + String.join(" OR ", differences) + ")",
                    true,
                    Set.of(Phase.DUAL, Phase.FLIPPED)));
        }
    }

    /** What the canonical table will demand of every row. */
    private void rules() {
        for (Canonical.Check check : table.kind().canonical.checks()) {
            // Arrivals without a topic that nobody finished are removed on the way.
            if (!check.suffix().equals("_finished")) {
                rule(
                        "break the rule CHECK (" + check.condition() + "); mend or remove them",
                        "NOT (" + sql.physical(check.condition()) + ")");
            }
        }
        for (Column column : table.kind().canonical.columns()) {
            if (column.notNull() && !column.name().equals(Canonical.SEQUENCE)) {
                rule(
                        "have no " + column.name() + ", which must not be null; mend or remove them",
                        "t." + sql.now(column.name()) + " IS NULL");
            }
        }
    }

    private void rule(String text, String condition) {
        checks.add(new RowCheck(
                Concern.RULE_BROKEN, text, "t.sequence IS NOT NULL AND " + condition, false, Set.of(Phase.FLIPPED)));
    }

    private void oldWriters(Upgrade.Options options) {
        checks.add(new RowCheck(
                Concern.OLD_WRITER,
                "were written by an old application within the last " + options.quietFor()
                        + "; stop it, and wait that long",
                "t." + LegacyTable.LEGACY_WRITE + " > statement_timestamp() - interval '"
                        + TableSql.seconds(options.quietFor()) + "'",
                false,
                Set.of(Phase.FLIPPED)));
    }
}
