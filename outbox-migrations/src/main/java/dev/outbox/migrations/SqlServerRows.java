package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.Capability;
import dev.outbox.migrations.Finding.Concern;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is asked of the rows of a table: by the report, and by the scripts themselves. In conditions a row is called t. */
final class SqlServerRows {
    /**
     * @param text what rows are like that this is true of
     * @param wrong whether it is wrong in the phase the table is in
     */
    record Check(Concern concern, String text, String condition, boolean wrong, Set<Phase> blocks) {}

    private final SqlServerLegacyTable table;
    private final Duration quietFor;

    SqlServerRows(SqlServerLegacyTable table, Duration quietFor) {
        this.table = table;
        this.quietFor = quietFor;
    }

    List<Check> checks() {
        Phase phase = table.phase();
        List<Check> checks = new ArrayList<>();
        if (phase == Phase.LEGACY) {
            checks.add(rule(
                    "have a Status that is none of 0, 1, 2 and 3",
                    row("status") + " NOT IN (0, 1, 2, 3)",
                    Phase.ADDITIVE));
            return checks;
        }
        if (phase == Phase.CLEAN) {
            return checks;
        }
        if (phase == Phase.ADDITIVE) {
            checks.add(new Check(
                    Concern.NOT_BACKFILLED,
                    "rows are not backfilled; run the backfill",
                    unnumbered(),
                    false,
                    Set.of(Phase.DUAL)));
        } else if (phase == Phase.DUAL && table.changesMessageId()) {
            checks.add(new Check(
                    Concern.NOT_BACKFILLED,
                    "rows that an old application stored are not backfilled; stop it, and run the backfill once more",
                    incomplete(),
                    false,
                    Set.of(Phase.FLIPPED)));
        }
        table.processed()
                .ifPresent(processed -> checks.add(new Check(
                        Concern.DIFFERENT,
                        "rows say one thing in Status and another in " + processed.name() + "; set one of them right",
                        "t.[%1$s] = 1 AND %2$s < 2 OR t.[%1$s] = 0 AND %2$s = 2"
                                .formatted(processed.name(), row("status"))
                                .transform(contradiction -> phase == Phase.ADDITIVE
                                        ? "(" + contradiction + ") AND t.[Sequence] IS NOT NULL"
                                        : contradiction),
                        phase != Phase.ADDITIVE,
                        Set.of(Phase.DUAL, Phase.FLIPPED))));
        if (table.changesMessageId() && table.stored("message_id").isPresent()) {
            checks.add(new Check(
                    Concern.DIFFERENT,
                    "rows have another message id in the old column than in the new one; set one of them right",
                    "TRY_CAST(t.[MessageIdNew] AS uniqueidentifier) <> " + row("message_id"),
                    true,
                    Set.of(Phase.DUAL, Phase.FLIPPED)));
        }
        checks.add(rule(
                "break the rule that Status is 0, 1, 2 or 3", row("status") + " NOT IN (0, 1, 2, 3)", Phase.FLIPPED));
        oldWriters(checks);
        return checks;
    }

    /**
     * There is no trigger that could note an old writer, for it would break an old application's OUTPUT. A row that one
     * has stored lacks the new message id; one that it has claimed lacks the token of ours.
     */
    private void oldWriters(List<Check> checks) {
        String lately = "DATEADD(second, -" + quietFor.toSeconds() + ", SYSUTCDATETIME())";
        String text = "rows were written by an old application within the last " + quietFor
                + "; stop the last one, and wait that long";
        Set<Phase> blocks = Set.of(Phase.FLIPPED, Phase.CLEAN);
        List<String> signs = new ArrayList<>();
        if (table.interim("message_id").isPresent()) {
            signs.add(
                    "t.[MessageIdNew] IS NULL AND t.[Sequence] IS NOT NULL AND " + row("created_on") + " > " + lately);
        }
        table.libraryToken().ifPresent(token -> {
            signs.add(row("status") + " = 1 AND " + row("locked_until") + " > SYSUTCDATETIME() AND (t.[" + token.name()
                    + "] IS NULL OR t.[" + token.name() + "] <> " + row("owner_token") + ")");
            signs.add(row("status") + " >= 2 AND " + row("processed_on") + " > " + lately + " AND t.[" + token.name()
                    + "] IS NULL");
        });
        if (!signs.isEmpty()) {
            checks.add(new Check(Concern.OLD_WRITER, text, "(" + String.join(") OR (", signs) + ")", false, blocks));
        }
    }

    private static Check rule(String text, String condition, Phase blocks) {
        return new Check(
                Concern.RULE_BROKEN, "rows " + text + "; mend or remove them", condition, false, Set.of(blocks));
    }

    /** Whether a row is one of before phase 1, and was not backfilled. */
    static String unnumbered() {
        return "t.[Sequence] IS NULL OR t.[Priority] IS NULL OR t.[BlocksKey] IS NULL";
    }

    /** Whether a row lacks something that only the backfill gives it; what an old application stores does, too. */
    String incomplete() {
        return unnumbered() + (table.interim("message_id").isPresent() ? " OR t.[MessageIdNew] IS NULL" : "");
    }

    /** What would be lost, or done wrongly, if the table went back to this phase. */
    List<Check> losses(Phase back) {
        Map<Capability, String> asked = new LinkedHashMap<>();
        asked.put(Capability.HEADERS, "t.[Headers] IS NOT NULL");
        asked.put(Capability.CONTENT_TYPE, "t.[ContentType] IS NOT NULL");
        asked.put(Capability.TENANT, "t.[TenantId] IS NOT NULL");
        asked.put(Capability.PRIORITY, "t.[Priority] <> 1");
        asked.put(Capability.KEY, "t.[MessageKey] IS NOT NULL");
        asked.put(Capability.BINARY_PAYLOAD, "t.[PayloadBytes] IS NOT NULL");
        if (table.interim("message_id").isPresent()) {
            asked.put(
                    Capability.ANY_MESSAGE_ID,
                    "t.[MessageIdNew] IS NOT NULL AND TRY_CAST(t.[MessageIdNew] AS uniqueidentifier) IS NULL");
        }
        List<Check> losses = new ArrayList<>();
        asked.forEach((capability, condition) -> {
            if (back.before(capability.from())) {
                losses.add(new Check(
                        Concern.RULE_BROKEN,
                        "unfinished messages have " + capability.what() + ", which " + back
                                + " cannot tell; let them finish first",
                        row("status") + " < 2 AND " + condition,
                        false,
                        Set.of()));
            }
        });
        return losses;
    }

    private String row(String logical) {
        return "t.["
                + table.stored(logical).map(SqlServerLegacyTable.Column::name).orElse(logical) + "]";
    }
}
