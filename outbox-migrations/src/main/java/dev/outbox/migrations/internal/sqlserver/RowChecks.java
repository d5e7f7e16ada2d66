package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Capabilities;
import dev.outbox.jdbc.internal.catalog.Capability;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.migrations.Finding.Concern;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checks of a table's rows, for the report and for the scripts. In conditions a row is called t. */
final class RowChecks {
    /**
     * @param text describes the rows for which the condition is true
     * @param wrong whether it is wrong in the phase the table is in
     */
    record Check(Concern concern, String text, String condition, boolean wrong, Set<Phase> blocks) {}

    private static final String INCOMPLETE =
            "rows that an old application stored are not backfilled; stop it, and run the backfill once more";

    private static final Pattern CANONICAL_NAME = Pattern.compile("\\b[A-Z]\\w*[a-z]\\w*");

    private final LegacyTable table;
    private final Duration quietFor;

    RowChecks(LegacyTable table, Duration quietFor) {
        this.table = table;
        this.quietFor = quietFor;
    }

    List<Check> checks() {
        Phase phase = table.phase();
        List<Check> checks = new ArrayList<>();
        if (phase == Phase.CLEAN) {
            return checks;
        }
        Check status = new Check(
                Concern.RULE_BROKEN,
                "rows "
                        + (phase == Phase.LEGACY
                                ? "have a Status that is none of "
                                : "break the rule that Status is one of ")
                        + (table.inbox() ? "Seen, Processing, Done and Dead" : "0, 1, 2 and 3")
                        + "; correct or remove them",
                table.inbox() ? code("t.") + " IS NULL" : "COALESCE(" + row("status") + ", 9) NOT IN (0, 1, 2, 3)",
                false,
                phase == Phase.LEGACY ? Set.of(Phase.ADDITIVE) : Set.of(Phase.FLIPPED, Phase.CLEAN));
        if (phase == Phase.LEGACY) {
            checks.add(status);
            return checks;
        }
        if (phase == Phase.ADDITIVE) {
            checks.add(new Check(
                    Concern.NOT_BACKFILLED,
                    "rows are not backfilled; run the backfill",
                    unnumbered(),
                    false,
                    Set.of(Phase.DUAL)));
        } else if (phase == Phase.DUAL && table.inbox()) {
            checks.add(stale());
        } else if (phase == Phase.DUAL && table.changes("message_id")) {
            checks.add(new Check(Concern.NOT_BACKFILLED, INCOMPLETE, incomplete(), false, Set.of(Phase.FLIPPED)));
        } else if (phase == Phase.FLIPPED && !table.inbox() && !table.interims().isEmpty()) {
            checks.add(new Check(
                    Concern.NOT_BACKFILLED,
                    "rows have their message id in the old column only, which phase 4 drops; run the backfill once more",
                    "t.[MessageIdNew] IS NULL",
                    false,
                    Set.of(Phase.CLEAN)));
        }
        if (table.inbox()) {
            differencesOfInbox(checks);
        } else {
            differences(checks);
        }
        if (!table.inbox() || table.interim("status").isPresent()) {
            checks.add(status);
        }
        rules(checks);
        oldWriters(checks);
        return checks;
    }

    /** Rows that the canonical table would refuse. */
    private void rules(List<Check> checks) {
        boolean flips = table.phase().before(Phase.FLIPPED);
        for (Canonical.Check rule : table.canonical().checks()) {
            boolean seenTo = switch (rule.suffix()) {
                case "_Status" -> flips || !table.inbox(); // by itself, as the old column has it
                case "_Finished" -> flips; // which removes arrivals that nobody finished
                default -> false;
            };
            if (!seenTo) {
                checks.add(broken(
                        "break the rule " + rule.condition(),
                        "NOT (" + CANONICAL_NAME.matcher(rule.condition()).replaceAll(this::physical) + ")"));
            }
        }
        if (flips && !table.inbox() && table.changes("message_id")) {
            checks.add(broken(
                    "have no " + old("message_id") + ", by which consumers know them", row("message_id") + " IS NULL"));
        }
    }

    private static Check broken(String text, String condition) {
        return new Check(
                Concern.RULE_BROKEN,
                "rows " + text + "; correct or remove them",
                condition,
                false,
                Set.of(Phase.FLIPPED, Phase.CLEAN));
    }

    private String physical(MatchResult name) {
        return table.canonical().columns().stream()
                .filter(column -> column.name().equals(name.group()))
                .map(column -> "t." + column(column.logical()))
                .findFirst()
                .orElse(name.group());
    }

    /** Checks that are in the way to a phase. */
    List<Check> blocking(Phase phase) {
        return checks().stream().filter(check -> check.blocks().contains(phase)).toList();
    }

    private void differences(List<Check> checks) {
        Phase phase = table.phase();
        table.processed()
                .ifPresent(processed -> checks.add(new Check(
                        Concern.DIFFERENT,
                        "rows have a Status that contradicts " + processed.name() + "; correct one of them",
                        "t.[%1$s] = 1 AND %2$s < 2 OR t.[%1$s] = 0 AND %2$s = 2"
                                .formatted(processed.name(), row("status"))
                                .transform(contradiction -> phase == Phase.ADDITIVE
                                        ? "(" + contradiction + ") AND t.[Sequence] IS NOT NULL"
                                        : contradiction),
                        phase != Phase.ADDITIVE,
                        Set.of(Phase.DUAL, Phase.FLIPPED))));
        if (table.changes("message_id") && table.stored("message_id").isPresent()) {
            checks.add(new Check(
                    Concern.DIFFERENT,
                    "rows have another message id in the old column than in the new one; correct one of them",
                    "TRY_CAST(t.[MessageIdNew] AS uniqueidentifier) <> " + row("message_id"),
                    true,
                    Set.of(Phase.DUAL, Phase.FLIPPED)));
        }
    }

    /**
     * Until the flip what differs is to be backfilled; after it the old columns follow, and nobody else writes them. What
     * an operator requeues stays Dead in the old one.
     */
    private void differencesOfInbox(List<Check> checks) {
        if (table.phase() == Phase.FLIPPED && !table.interims().isEmpty()) {
            checks.add(new Check(
                    Concern.DIFFERENT,
                    "rows have other values in old columns than in new ones; an old application still writes: stop it,"
                            + " and correct the rows",
                    differing("t.") + " = 1 AND " + row("status") + " <> 'Dead'",
                    true,
                    Set.of(Phase.CLEAN)));
        }
    }

    /** What an old application has stored or changed since the backfill. */
    Check stale() {
        return new Check(
                Concern.NOT_BACKFILLED,
                "rows that an old application stored or changed are not backfilled; stop it, and run the backfill once"
                        + " more",
                "t.[" + LegacyTable.DIFFERS + "] = 1",
                false,
                Set.of(Phase.FLIPPED));
    }

    /**
     * What an old producer may have stored in an outbox since it was found complete. It is asked under the lock of the
     * flip, so that indexes have to answer it: no key is there before, and what was finished meanwhile phase 4 asks for.
     */
    List<Check> arrived() {
        return !table.changes("message_id")
                ? List.of()
                : Stream.of(" = 0 AND t.[MessageKey] IS NULL", " = 1")
                        .map(unfinished -> new Check(
                                Concern.NOT_BACKFILLED,
                                INCOMPLETE,
                                row("status") + unfinished + " AND t.[MessageIdNew] IS NULL",
                                false,
                                Set.of(Phase.FLIPPED)))
                        .toList();
    }

    /**
     * 1 for a row of an inbox that says one thing in old columns and another in new ones, else 0.
     *
     * @param alias of the row, with a full stop
     */
    String differing(String alias) {
        return "(CASE WHEN %1$s[StatusCode] = %2$s AND %3$s AND %4$s THEN 0 ELSE 1 END)"
                .formatted(alias, code(alias), equal(alias, "message_id"), equal(alias, "source"));
    }

    private String equal(String alias, String logical) {
        return alias + "[" + LegacyTable.interimName(table.canonical().column(logical)) + "] = " + toNew(alias, logical)
                + " COLLATE Latin1_General_100_BIN2";
    }

    /** The value of the new column for the one of the old column. */
    String toNew(String alias, String logical) {
        return logical.equals("status") ? code(alias) : "CAST(" + alias + "[" + old(logical) + "] AS nvarchar(255))";
    }

    private String code(String alias) {
        return "CASE " + alias + "[" + old("status")
                + "] WHEN 'Seen' THEN 0 WHEN 'Processing' THEN 1 WHEN 'Done' THEN 2 WHEN 'Dead' THEN 3 END";
    }

    private String old(String logical) {
        return table.stored(logical).map(Column::name).orElse(logical);
    }

    /**
     * There is no trigger that could note an old writer, for it would break an old application's OUTPUT. A row that one
     * has stored lacks the new message id; one that it has claimed lacks the token of ours. What an inbox was told
     * without a lease is ours too, so that only what was handled counts there.
     */
    private void oldWriters(List<Check> checks) {
        String lately = "DATEADD(second, -" + quietFor.toSeconds() + ", SYSUTCDATETIME())";
        String text = "rows were written by an old application within the last " + quietFor
                + "; stop the last one, and wait that long";
        Set<Phase> blocks = Set.of(Phase.FLIPPED, Phase.CLEAN);
        List<String> signs = new ArrayList<>();
        if (table.inbox()) {
            if (table.has(LegacyTable.DIFFERS)) {
                signs.add("t.[" + LegacyTable.DIFFERS + "] = 1 AND t.[Sequence] IS NOT NULL AND (" + row("last_seen_on")
                        + " > " + lately + " OR " + row("processed_on") + " > " + lately + ")");
            }
        } else if (table.interim("message_id").isPresent()) {
            signs.add(
                    "t.[MessageIdNew] IS NULL AND t.[Sequence] IS NOT NULL AND " + row("created_on") + " > " + lately);
        }
        String status = table.inbox() && table.phase().before(Phase.FLIPPED) ? code("t.") : "t." + column("status");
        table.libraryToken().ifPresent(token -> {
            signs.add(status + " = 1 AND " + row("locked_until") + " > SYSUTCDATETIME() AND (t.[" + token.name()
                    + "] IS NULL OR t.[" + token.name() + "] <> " + row("owner_token") + ")");
            signs.add(status + (table.inbox() ? " = 2 AND " + row("topic") + " IS NOT NULL AND " : " >= 2 AND ")
                    + row("processed_on") + " > " + lately + " AND t.[" + token.name() + "] IS NULL");
        });
        if (!signs.isEmpty()) {
            checks.add(new Check(Concern.OLD_WRITER, text, "(" + String.join(") OR (", signs) + ")", false, blocks));
        }
    }

    /** Whether a row is one of before phase 1, and was not backfilled. */
    String unnumbered() {
        return table.filled().stream()
                .map(logical -> "t." + column(logical) + " IS NULL")
                .collect(Collectors.joining(" OR "));
    }

    /** Whether a row lacks something that only the backfill gives it; what an old application stores does, too. */
    String incomplete() {
        if (table.inbox()) {
            return unnumbered() + (table.has(LegacyTable.DIFFERS) ? " OR t.[" + LegacyTable.DIFFERS + "] = 1" : "");
        }
        return unnumbered() + (table.interim("message_id").isPresent() ? " OR t.[MessageIdNew] IS NULL" : "");
    }

    /** Rows that would be lost or handled wrongly if the table went back to this phase. */
    List<Check> losses(Phase back) {
        Map<Capability, String> asked = new LinkedHashMap<>();
        asked.put(Capability.HEADERS, "t.[Headers] IS NOT NULL");
        asked.put(Capability.CONTENT_TYPE, "t.[ContentType] IS NOT NULL");
        asked.put(Capability.TENANT, "t.[TenantId] IS NOT NULL");
        asked.put(Capability.PRIORITY, "t.[Priority] <> 1");
        asked.put(Capability.KEY, "t.[MessageKey] IS NOT NULL");
        asked.put(Capability.BINARY_PAYLOAD, "t.[PayloadBytes] IS NOT NULL");
        if (table.inbox()) {
            asked.put(Capability.INBOX_CORRELATION, "t.[CorrelationId] IS NOT NULL");
        } else if (table.interim("message_id").isPresent()) {
            asked.put(
                    Capability.ANY_MESSAGE_ID,
                    "t.[MessageIdNew] IS NOT NULL AND TRY_CAST(t.[MessageIdNew] AS uniqueidentifier) IS NULL");
        }
        Capabilities capabilities =
                Capabilities.of(Database.SQLSERVER, table.inbox() ? TableKind.INBOX : TableKind.OUTBOX);
        List<Check> losses = new ArrayList<>();
        asked.forEach((capability, condition) -> {
            if (!capabilities.have(capability, back)) {
                losses.add(new Check(
                        Concern.RULE_BROKEN,
                        "unfinished messages have " + capability.what() + ", which " + back
                                + " cannot represent; let them finish first",
                        "t." + column("status") + " < 2 AND " + condition,
                        false,
                        Set.of()));
            }
        });
        if (table.inbox() && table.phase() == Phase.FLIPPED) {
            losses.add(new Check(
                    Concern.DIFFERENT,
                    "rows have values in new columns that the old ones do not have, such as one that was requeued; let them"
                            + " finish, or correct the old columns",
                    differing("t.") + " = 1",
                    false,
                    Set.of()));
        }
        return losses;
    }

    private String row(String logical) {
        return "t.[" + old(logical) + "]";
    }

    /** The column that remains in the end, under its current name. */
    String column(String logical) {
        return "[" + table.now(logical).map(Column::name).orElse(logical) + "]";
    }
}
