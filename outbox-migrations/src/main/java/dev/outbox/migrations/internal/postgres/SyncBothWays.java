package dev.outbox.migrations.internal.postgres;

/**
 * The function of the sync triggers in phases 1 and 2: the side that was written goes to the other one.
 *
 * <p>In a row that is inserted, a new column that is null is copied from the old one. A new column that is set goes to the old
 * one, whose value may be a mere default. In an update the side that was changed wins; if both were changed and disagree, the
 * update is refused. A row that is older than the migration has nulls in its new columns: they are filled from the old ones.
 *
 * <p>{@code IsProcessed} repeats what {@code Status} says. The one that was changed counts. If both were changed, they must
 * agree, except that {@code IsProcessed} of a Dead row may have either value.
 */
final class SyncBothWays {
    private final SyncRow row;

    SyncBothWays(SyncRow row) {
        this.row = row;
    }

    String body() {
        return """
                DECLARE
                    legacy boolean := false;
                BEGIN
                    IF TG_OP = 'INSERT' THEN
                        legacy := %s IS NULL;
                %s    ELSE
                        legacy := COALESCE(%s, false);
                %s    END IF;
                %s    IF legacy THEN
                %s    END IF;
                    RETURN NEW;
                END""".formatted(
                        row.item(),
                        SyncRow.indent(inserted()),
                        row.byOldOnly(),
                        SyncRow.indent(updated()),
                        row.fills(),
                        SyncRow.indent(SyncRow.stamp()));
    }

    private String inserted() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : row.table().pairs()) {
            if (!row.isDoubled(pair)) {
                text.append("    IF %1$s IS NULL AND %3$s IS NOT NULL THEN %1$s := %2$s; ELSE %3$s := %4$s; END IF;\n"
                        .formatted(
                                SyncRow.now(pair), pair.toNew(SyncRow.old(pair)), SyncRow.old(pair), row.toOld(pair)));
            }
        }
        if (row.table().processed() != null) {
            Pair status = row.table().pair("status");
            String found = status == null
                    ? row.now("status")
                    : "COALESCE(" + SyncRow.now(status) + ", " + status.toNew(SyncRow.old(status)) + ")";
            text.append("    %s := %s;\n"
                    .formatted(
                            row.now("status"),
                            status == null
                                    ? row.done(found)
                                    : "CASE WHEN " + row.now("status") + " IS NULL THEN " + row.done(found) + " ELSE "
                                            + row.now("status") + " END"));
            text.append(row.oldStatus(""));
            text.append(row.stampDone());
        }
        return text.toString();
    }

    private String updated() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : row.table().pairs()) {
            if (!row.isDoubled(pair)) {
                text.append("""
                            IF %1$s IS DISTINCT FROM %2$s THEN
                                IF %3$s IS NOT DISTINCT FROM %4$s THEN
                                    legacy := legacy OR %1$s IS DISTINCT FROM %5$s;
                                    %3$s := %6$s;
                                ELSIF %1$s IS NOT DISTINCT FROM %5$s THEN
                                    %1$s := %2$s;
                                ELSE
                        %7$s        END IF;
                            END IF;
                        """.formatted(
                                SyncRow.old(pair),
                                row.toOld(pair),
                                SyncRow.now(pair),
                                SyncRow.before(pair.now()),
                                SyncRow.before(pair.old()),
                                pair.toNew(SyncRow.old(pair)),
                                SyncRow.indent(SyncRow.indent(refuse(pair.old(), pair.now())))));
            }
        }
        if (row.table().processed() != null) {
            text.append(updatedStatus());
        }
        return text.toString();
    }

    /** The three-way table of Status, IsProcessed and the new status. */
    private String updatedStatus() {
        Pair pair = row.table().pair("status");
        String now = row.now("status");
        String status = pair == null ? now : SyncRow.old(pair);
        String nowChanged =
                now + " IS DISTINCT FROM " + SyncRow.before(row.table().now("status"));
        String statusChanged =
                pair == null ? "false" : SyncRow.old(pair) + " IS DISTINCT FROM " + SyncRow.before(pair.old());
        String processedChanged = row.processed() + " IS DISTINCT FROM " + row.beforeProcessed();
        String refuse =
                refuse(String.valueOf(row.table().processed()), row.table().now("status"));
        return """
                    IF %1$s THEN
                        IF (%2$s) AND %3$s IS DISTINCT FROM %4$s
                            OR %5$s AND %6$s <> (%4$s = 2) AND %4$s <> 3 THEN
                %7$s        END IF;
                %8$s    ELSIF %2$s THEN
                        IF %5$s AND (%3$s < 2 AND %6$s OR %3$s = 2 AND NOT %6$s) THEN
                %7$s        END IF;
                        legacy := true;
                        %4$s := %3$s;
                %8$s    ELSIF %5$s THEN
                        legacy := true;
                        %4$s := CASE WHEN %6$s AND %3$s < 2 THEN 2 WHEN NOT %6$s AND %3$s = 2 THEN 0 ELSE %3$s END;
                %8$s    ELSE
                        %4$s := %9$s;
                %8$s    END IF;
                %10$s""".formatted(
                        nowChanged,
                        statusChanged,
                        status,
                        now,
                        processedChanged,
                        row.processed(),
                        SyncRow.indent(SyncRow.indent(refuse)),
                        SyncRow.indent(row.oldStatus(processedChanged)),
                        row.done(status),
                        row.stampDone());
    }

    private static String refuse(String old, String now) {
        return """
                    RAISE EXCEPTION 'columns %s and %s were set to different values in one statement'
                        USING ERRCODE = 'integrity_constraint_violation',
                            HINT = 'Write one of the two, or the same to both.';
                """.formatted(Block.escaped(old), Block.escaped(now));
    }
}
