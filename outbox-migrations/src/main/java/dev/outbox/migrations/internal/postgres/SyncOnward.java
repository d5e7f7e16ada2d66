package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.internal.catalog.LegacyNames;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The function of the sync triggers in phase 3: new columns go to old ones.
 *
 * <p>A row that an old application inserts is still accepted. A change of old columns alone is refused: it would be lost, and
 * the application would rely on it.
 */
final class SyncOnward {
    private final SyncRow row;

    SyncOnward(SyncRow row) {
        this.row = row;
    }

    String body() {
        return """
                BEGIN
                    IF TG_OP = 'INSERT' AND %s IS NULL THEN
                %s%s%s    ELSIF TG_OP = 'INSERT' THEN
                %s    ELSIF TG_NARGS = 0 THEN
                %s%s    ELSE
                %s%s    END IF;
                    RETURN NEW;
                END""".formatted(
                        row.item(),
                        SyncRow.indent(adopted()),
                        SyncRow.indent(row.fills()),
                        SyncRow.indent(SyncRow.stamp()),
                        SyncRow.indent(filled(row.table().pairs())),
                        SyncRow.indent(refuseOld(onlyOldChanged(row.pairs(false), onlyOldProcessed()))),
                        SyncRow.indent(filled(row.pairs(false))),
                        SyncRow.indent(refuseOld(onlyOldChanged(row.pairs(true), List.of()))),
                        SyncRow.indent(filledIfChanged(row.pairs(true))));
    }

    private String refuseOld(String condition) {
        return """
                    IF %s THEN
                        NEW.%s := %s;
                        RETURN NEW;
                    END IF;
                """.formatted(condition, LegacyNames.LEGACY_WRITE, SyncTrigger.REFUSED);
    }

    /** A row of an old writer, where what the new columns have is a mere default: what the old ones say counts. */
    private String adopted() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : row.table().pairs()) {
            if (!row.isDoubled(pair)) {
                text.append("    IF %3$s IS NULL THEN %3$s := %4$s; ELSE %1$s := %2$s; END IF;\n"
                        .formatted(
                                SyncRow.now(pair), pair.toNew(SyncRow.old(pair)), SyncRow.old(pair), row.toOld(pair)));
            }
        }
        if (row.table().processed() != null) {
            Pair status = row.table().pair("status");
            String found = status == null
                    ? row.now("status")
                    : "COALESCE(" + status.toNew(SyncRow.old(status)) + ", " + SyncRow.now(status) + ")";
            text.append("    %s := %s;\n".formatted(row.now("status"), row.done(found)));
            text.append(row.oldStatus(""));
            text.append(row.stampDone());
        }
        return text.toString();
    }

    private String onlyOldChanged(List<Pair> pairs, List<String> others) {
        List<String> conditions = pairs.stream()
                .map(pair -> "%1$s IS DISTINCT FROM %2$s AND %1$s IS DISTINCT FROM %3$s"
                        .formatted(SyncRow.old(pair), SyncRow.before(pair.old()), row.toOld(pair)))
                .collect(Collectors.toCollection(ArrayList::new));
        conditions.addAll(others);
        return conditions.isEmpty() ? "false" : String.join("\n            OR ", conditions);
    }

    private List<String> onlyOldProcessed() {
        List<String> conditions = new ArrayList<>(List.of(row.byOldOnly()));
        if (row.table().processed() != null) {
            conditions.add("%1$s IS DISTINCT FROM %2$s AND %1$s <> (%3$s = 2) AND %3$s <> 3"
                    .formatted(row.processed(), row.beforeProcessed(), row.now("status")));
        }
        return conditions;
    }

    private String filled(List<Pair> pairs) {
        return pairs.stream()
                        .map(pair -> "    " + SyncRow.old(pair) + " := " + row.toOld(pair) + ";\n")
                        .collect(Collectors.joining())
                + (row.table().processed() == null
                        ? ""
                        : "    %s := %s = 2;\n".formatted(row.processed(), row.now("status")));
    }

    private String filledIfChanged(List<Pair> pairs) {
        return pairs.stream()
                .map(pair -> "    IF %s IS DISTINCT FROM %s THEN %s := %s; END IF;\n"
                        .formatted(SyncRow.now(pair), SyncRow.before(pair.now()), SyncRow.old(pair), row.toOld(pair)))
                .collect(Collectors.joining());
    }
}
