package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Capabilities;
import dev.outbox.jdbc.internal.catalog.Capability;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.internal.Literal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Looks for problems in the rows of a table, all in one pass over them. Which ones, depends on its phase. */
final class RowChecks {
    /**
     * Something that must not be true of any row.
     *
     * @param text for people, after the number of rows
     * @param condition on a row called t
     */
    record Condition(String text, String condition) {}

    private record RowCheck(Concern concern, Condition what, boolean wrong, Set<Phase> blocks) {}

    private final LegacyTable table;
    private final Phase phase;
    private final List<RowCheck> checks = new ArrayList<>();

    /** @param phase the one that the table is in, or will be in when this is looked for */
    RowChecks(LegacyTable table, @Nullable String consumer, Phase phase) {
        this.table = table;
        this.phase = phase;
        switch (phase) {
            case LEGACY -> contradictions();
            case ADDITIVE, DUAL -> {
                incomplete(consumer);
                differences();
                rules();
            }
            case FLIPPED, RENAMING -> {
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
                .map(check -> "count(*) FILTER (WHERE " + check.what.condition + ")")
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
                            new Finding(check.concern, rows + " " + check.what.text, rows, check.wrong, check.blocks));
                }
            }
        }
        return findings;
    }

    /** The conditions that prevent a phase. */
    List<Condition> blocking(Phase next) {
        return checks.stream()
                .filter(check -> check.blocks.contains(next))
                .map(RowCheck::what)
                .toList();
    }

    private String now(String canonical) {
        return "t." + Quoted.postgres(table.now(canonical));
    }

    private void contradictions() {
        if (table.processed() != null) {
            Pair status = table.pair("status");
            checks.add(new RowCheck(
                    Concern.DIFFERENT,
                    new Condition(
                            "rows have a " + table.processed()
                                    + " that contradicts their status; the backfill will make them Done",
                            "t.%1$s < 2 AND t.%2$s OR t.%1$s = 2 AND NOT t.%2$s"
                                    .formatted(
                                            Quoted.postgres(status == null ? "status" : status.old()),
                                            Quoted.postgres(table.processed()))),
                    false,
                    Set.of()));
        }
    }

    private void incomplete(@Nullable String consumer) {
        boolean renaming = !table.replacing().isEmpty();
        checks.add(new RowCheck(
                Concern.NOT_BACKFILLED,
                new Condition(
                        "rows are not backfilled; run the backfill", new PostgresBackfill(table, consumer).condition()),
                renaming ? phase == Phase.RENAMING : phase != Phase.ADDITIVE,
                renaming ? Set.of(Phase.CLEAN) : Set.of(Phase.DUAL, Phase.FLIPPED, Phase.RENAMING)));
    }

    /** During the renaming, rows that differ are those that are not backfilled. */
    private void differences() {
        if (!table.replacing().isEmpty()) {
            return;
        }
        List<String> differences = new ArrayList<>();
        for (Pair pair : table.pairs()) {
            differences.add("t.%s IS DISTINCT FROM %s"
                    .formatted(
                            Quoted.postgres(pair.old()),
                            pair.toOld("t." + Quoted.postgres(pair.now()), now("work_item_id"))));
        }
        if (table.processed() != null) {
            differences.add(
                    "t.%1$s <> (%2$s = 2) AND %2$s <> 3".formatted(Quoted.postgres(table.processed()), now("status")));
        }
        if (!differences.isEmpty()) {
            checks.add(new RowCheck(
                    Concern.DIFFERENT,
                    new Condition(
                            "rows have other values in old columns than in new ones; compare them, and write one"
                                    + " side again",
                            "t.sequence IS NOT NULL AND (" + String.join(" OR ", differences) + ")"),
                    true,
                    Set.of(Phase.DUAL, Phase.FLIPPED)));
        }
    }

    /** The rules of the canonical table for every row. */
    private void rules() {
        for (Canonical.Check check : table.canonical().checks()) {
            // The flip removes arrivals without a topic that are not finished.
            if (!check.suffix().equals("_finished")) {
                rule(
                        "rows break the rule CHECK (" + check.condition() + "); correct or remove them",
                        "NOT (" + table.physical(check.condition()) + ")");
            }
        }
        for (Canonical.Column column : table.canonical().columns()) {
            if (column.notNull() && !column.name().equals(Canonical.SEQUENCE)) {
                rule(
                        "rows have no " + column.name() + ", which must not be null; correct or remove them",
                        now(column.name()) + " IS NULL");
            }
        }
    }

    private void rule(String text, String condition) {
        checks.add(new RowCheck(
                Concern.RULE_BROKEN,
                new Condition(text, "t.sequence IS NOT NULL AND " + condition),
                false,
                Set.of(Phase.FLIPPED)));
    }

    /** Rows that would be lost or handled wrongly if the table went back to this phase. */
    static List<Condition> losses(LegacyTable table, @Nullable String consumer, Phase back) {
        boolean inbox = table.kind() == TableKind.INBOX;
        Map<Capability, String> asked = new LinkedHashMap<>();
        asked.put(Capability.HEADERS, "headers IS NOT NULL");
        asked.put(Capability.CONTENT_TYPE, "content_type IS NOT NULL");
        asked.put(Capability.TENANT, "tenant_id IS NOT NULL");
        asked.put(Capability.PRIORITY, "priority <> 1");
        if (inbox) {
            asked.put(Capability.INBOX_CORRELATION, "correlation_id IS NOT NULL");
        }
        asked.put(Capability.KEY, "message_key IS NOT NULL");
        asked.put(Capability.BINARY_PAYLOAD, "payload_bytes IS NOT NULL");
        String unfinished = "t." + Quoted.postgres(table.now("status")) + " < 2";
        Capabilities capabilities = Capabilities.of(Database.POSTGRES, table.kind());
        List<Condition> losses = new ArrayList<>();
        asked.forEach((capability, condition) -> {
            if (!capabilities.have(capability, back)) {
                losses.add(new Condition(
                        "unfinished messages have " + capability.what() + ", which " + back
                                + " cannot represent; let them finish first",
                        unfinished + " AND t." + condition));
            }
        });
        List<String> cut = table.pairs().stream()
                .map(pair -> "t.%1$s IS NOT NULL AND %2$s%3$s IS DISTINCT FROM t.%1$s"
                        .formatted(
                                Quoted.postgres(pair.now()),
                                pair.toNew("t." + Quoted.postgres(pair.old())),
                                pair.column().bytewise() ? " COLLATE \"C\"" : ""))
                .toList();
        if (!cut.isEmpty()) {
            losses.add(new Condition(
                    (inbox ? "rows" : "unfinished messages")
                            + " have values in new columns that the old ones cannot hold, such as a longer text or a"
                            + " message id that is not a UUID; let them finish, or remove them",
                    (inbox ? "" : unfinished + " AND ") + "t.sequence IS NOT NULL AND (" + String.join(" OR ", cut)
                            + ")"));
        }
        if (consumer != null) {
            losses.add(new Condition(
                    "rows belong to other consumers than " + consumer + ", which " + back
                            + " cannot tell apart; remove them",
                    "t.consumer <> " + Literal.text(consumer)));
        }
        return losses;
    }
}
