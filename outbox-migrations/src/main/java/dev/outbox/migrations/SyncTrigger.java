package dev.outbox.migrations;

import dev.outbox.jdbc.internal.catalog.LegacyNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the triggers that keep old and new columns equal.
 *
 * <p><b>Both ways</b> (phases 1 and 2). A row that is inserted has what its writer knows: a new column that is null is
 * copied from the old one, one that is set goes to the old one, whose value may be a mere default. In an update
 * the side that differs from before wins; if both do and disagree, nobody can tell who is right, and it is refused. A row
 * of before the migration has nulls on the new side that nobody touched: they are copied. Whoever writes both sides
 * makes the trigger's condition false, and no function is called.
 *
 * <p>{@code IsProcessed} says a second time what {@code Status} says. The one that was changed counts; changed
 * both, they must agree, except that a Dead row may be called processed or not.
 *
 * <p>What is copied from old to new stamps {@code legacy_write_on}: that is how an old writer is noticed. A row may
 * leave and take its stamp along, so the time is also kept in a sequence, which no transaction holds and none takes back.
 *
 * <p><b>Onward</b> (phase 3). New goes to old. A row that an old application inserts is still taken. A change of old
 * columns alone is refused: it would be lost, and who made it would act on it. Here too an update of both sides calls no
 * function.
 *
 * <p><b>Rights.</b> Two functions, because PostgreSQL lets a role attach every trigger function that it may execute to a
 * table of its own, and assigning to a column runs code that belongs to the column's type. The function that copies columns
 * therefore has the rights of the writer. Only the sequence needs the rights of its owner: a second function sets it, and
 * reads and writes no column. It is told by the stamp, in the WHEN clauses of triggers that come after the others by their
 * names: the time of the statement is to be noted, {@code infinity} is to be noted and refused. No role but the owner
 * may execute either function; a trigger asks for that right when it is created, not when it fires.
 */
final class SyncTrigger {
    private static final Set<String> FIXED = Set.of(
            "work_item_id",
            "message_id",
            "source",
            "hash",
            "topic",
            "payload",
            "correlation_id",
            "created_on",
            "first_seen_on");

    private static final String COPY = "_sync";
    private static final String NOTE = "_old_write";
    private static final List<String> FUNCTIONS = List.of(COPY, NOTE);

    private static final List<String> COPYING = List.of("_sync", "_sync_update", "_sync_named");

    /** Triggers fire in the order of their names, so that these see what the others have set. */
    private static final List<String> NOTING = List.of("_sync_veto", "_sync_written");

    /** What stamps a row whose change is refused. It is never stored, or later changes of the row would be refused too. */
    private static final String REFUSED = "'infinity'";

    private final LegacyTable table;
    private final @Nullable String consumer;

    /** @param consumer whose the rows of a legacy inbox are */
    SyncTrigger(LegacyTable table, @Nullable String consumer) {
        this.table = table;
        this.consumer = consumer;
    }

    /** Drops the triggers and their functions. */
    List<String> drop() {
        List<String> statements = new ArrayList<>(dropTriggers());
        FUNCTIONS.forEach(suffix -> statements.add("DROP FUNCTION IF EXISTS " + function(table, suffix)));
        return statements;
    }

    private List<String> dropTriggers() {
        return Stream.concat(COPYING.stream(), NOTING.stream())
                .map(suffix -> "DROP TRIGGER IF EXISTS " + table.own(suffix) + " ON " + table.quoted())
                .toList();
    }

    private static String function(LegacyTable table, String suffix) {
        return table.relation(suffix) + "()";
    }

    /**
     * Gives the functions to the owner of the table, whoever created them, and takes them from everybody else: PostgreSQL
     * gives new ones to PUBLIC, default privileges give them to others, and an earlier version left them so. A role that
     * cannot do this fails by the first statement, since REVOKE alone would only warn.
     */
    String close() {
        return Quoted.block("""
                DECLARE
                    found record;
                BEGIN
                    FOR found IN
                        SELECT p.oid::regprocedure AS function, pg_get_userbyid(t.relowner) AS owner
                        FROM pg_proc p, pg_class t
                        WHERE p.oid IN (%1$s) AND t.oid = %2$s::regclass AND p.proowner <> t.relowner
                    LOOP
                        EXECUTE format('ALTER FUNCTION %%s OWNER TO %%I', found.function, found.owner);
                    END LOOP;
                    FOR found IN
                        SELECT DISTINCT p.oid::regprocedure AS function,
                            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
                        FROM pg_proc p, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
                        WHERE p.oid IN (%1$s) AND a.grantee <> p.proowner
                    LOOP
                        EXECUTE format('REVOKE ALL ON FUNCTION %%s FROM %%s CASCADE', found.function, found.grantee);
                    END LOOP;
                END""".formatted(
                        FUNCTIONS.stream().map(suffix -> oid(table, suffix)).collect(Collectors.joining(", ")),
                        Quoted.text(table.quoted())));
    }

    private static String oid(LegacyTable table, String suffix) {
        return "to_regprocedure(" + Quoted.text(function(table, suffix)) + ")";
    }

    /** The triggers of phases 1 and 2. */
    List<String> bothWays() {
        List<Pair> fixed = pairs(true);
        return create(
                """
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
                END""".formatted(item(), indent(inserted()), byOldOnly(), indent(updated()), fills(), indent(stamp())),
                bothSides(fixed),
                disagreement(table.pairs(), complete()),
                disagreement(pairs(false), complete()) + "\n        OR " + byOldOnly(),
                disagreement(fixed, List.of()));
    }

    /** The triggers of phase 3. */
    List<String> onward() {
        List<Pair> fixed = pairs(true);
        List<Pair> others = pairs(false);
        return create(
                """
                BEGIN
                    IF TG_OP = 'INSERT' AND %s IS NULL THEN
                %s%s%s    ELSIF TG_OP = 'INSERT' THEN
                %s    ELSIF TG_NARGS = 0 THEN
                %s%s    ELSE
                %s%s    END IF;
                    RETURN NEW;
                END""".formatted(
                                item(),
                                indent(adopted()),
                                indent(fills()),
                                indent(stamp()),
                                indent(filled(table.pairs())),
                                indent(refuseOld(onlyOldChanged(others, onlyOldProcessed()))),
                                indent(filled(others)),
                                indent(refuseOld(onlyOldChanged(fixed, List.of()))),
                                indent(filledIfChanged(fixed))),
                bothSides(fixed),
                "",
                disagreement(others, processedFollows()) + "\n        OR " + byOldOnly(),
                disagreement(fixed, List.of()));
    }

    private String refuseOld(String condition) {
        return """
                    IF %s THEN
                        NEW.%s := %s;
                        RETURN NEW;
                    END IF;
                """.formatted(condition, LegacyNames.LEGACY_WRITE, REFUSED);
    }

    /** What no transaction takes back is noted before the refusal. No column may be read or set here. */
    private String noting() {
        return """
                BEGIN
                    PERFORM setval(%s, floor(extract(epoch FROM statement_timestamp()))::bigint);
                    IF TG_NARGS > 0 THEN
                        RAISE EXCEPTION 'table %s is in phase 3: its old columns are only read'
                            USING ERRCODE = 'integrity_constraint_violation',
                                HINT = 'Write the new columns, or take the table back to phase 2.';
                    END IF;
                    RETURN NEW;
                END""".formatted(Quoted.text(table.relation("_old_writes")), table.name());
    }

    /** @param named what has to be named by an update to be looked at */
    private List<String> create(String body, List<String> named, String insert, String update, String namedUpdate) {
        List<String> statements = new ArrayList<>();
        statements.add(createFunction(COPY, "SECURITY INVOKER", body));
        statements.add(createFunction(NOTE, "SECURITY DEFINER", noting()));
        statements.add(close());
        statements.addAll(dropTriggers());
        statements.add(trigger("_sync", "INSERT", insert, COPY, ""));
        statements.add(trigger("_sync_update", "UPDATE", update, COPY, ""));
        if (!named.isEmpty()) {
            String columns = String.join(", ", named.stream().map(Quoted::name).toList());
            statements.add(trigger("_sync_named", "UPDATE OF " + columns, namedUpdate, COPY, "'named'"));
        }
        String stamp = "NEW." + LegacyNames.LEGACY_WRITE;
        statements.add(trigger("_sync_veto", "INSERT OR UPDATE", stamp + " = " + REFUSED, NOTE, "'refuse'"));
        statements.add(trigger("_sync_written", "INSERT OR UPDATE", stamp + " = statement_timestamp()", NOTE, ""));
        return statements;
    }

    /** A function that is replaced keeps its owner and its grants, and nothing else. */
    private String createFunction(String suffix, String rights, String body) {
        return "CREATE OR REPLACE FUNCTION " + function(table, suffix) + " RETURNS trigger LANGUAGE plpgsql " + rights
                + " SET search_path = pg_catalog, pg_temp AS " + Quoted.body(body);
    }

    private String trigger(String suffix, String event, String when, String function, String argument) {
        return "CREATE TRIGGER " + table.own(suffix) + "\n    BEFORE " + event + " ON " + table.quoted()
                + " FOR EACH ROW" + (when.isEmpty() ? "" : "\n    WHEN (" + when + ")") + "\n    EXECUTE FUNCTION "
                + table.relation(function) + "(" + argument + ")";
    }

    /** The names of the triggers that keep this table's sides equal, and of those that note and refuse old writers. */
    static List<String> triggers(LegacyTable table) {
        return Stream.concat(copying(table).stream(), noting(table).stream()).toList();
    }

    private static List<String> copying(LegacyTable table) {
        return COPYING.stream()
                .filter(suffix ->
                        !suffix.equals("_sync_named") || table.pairs().stream().anyMatch(SyncTrigger::isFixed))
                .map(suffix -> table.name().name() + suffix)
                .toList();
    }

    private static List<String> noting(LegacyTable table) {
        return NOTING.stream().map(suffix -> table.name().name() + suffix).toList();
    }

    /**
     * Whether all of them are there, and work. An earlier version had one function with its owner's rights, which noted
     * old writers itself; it is replaced by the next step that creates triggers.
     */
    static String areThere(LegacyTable table) {
        return "(%s AND (%s OR EXISTS (SELECT FROM pg_proc WHERE oid = %s AND prosecdef)))"
                .formatted(areEnabled(table, copying(table)), areEnabled(table, noting(table)), oid(table, COPY));
    }

    private static String areEnabled(LegacyTable table, List<String> names) {
        return "(SELECT count(*) FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname IN (%s) AND tgenabled <> 'D') = %d"
                .formatted(
                        Quoted.text(table.quoted()),
                        String.join(", ", names.stream().map(Quoted::text).toList()),
                        names.size());
    }

    /**
     * What hardly anybody changes is looked at by a trigger of its own, only for a statement that names it: claims and
     * settles do not, and payloads are long.
     */
    private static boolean isFixed(Pair pair) {
        return FIXED.contains(pair.column().name());
    }

    private List<Pair> pairs(boolean fixed) {
        return table.pairs().stream().filter(pair -> isFixed(pair) == fixed).toList();
    }

    /** Says that an old writer was here. */
    private static String stamp() {
        return "    NEW." + LegacyNames.LEGACY_WRITE + " := statement_timestamp();\n";
    }

    /**
     * Whether an update that changes only columns which both sides share must be an old application's. Whoever claims by
     * us counts the attempt too, whoever gives up says when, and what has no key is given back with a new due time.
     */
    private String byOldOnly() {
        if (table.pair("status") != null) {
            return "false";
        }
        String from = before(table.now("status"));
        String to = now("status");
        return "(%1$s = 0 AND %2$s = 1 AND %3$s OR %1$s = 1 AND %2$s = 3 AND %4$s OR %1$s = 1 AND %2$s = 0 AND %5$s AND %6$s IS NULL)"
                .formatted(
                        from,
                        to,
                        unchanged("attempt_count"),
                        unchanged("processed_on"),
                        unchanged("due_on"),
                        now("message_key"));
    }

    private String unchanged(String canonical) {
        return now(canonical) + " IS NOT DISTINCT FROM " + before(table.now(canonical));
    }

    private static List<String> bothSides(List<Pair> pairs) {
        return pairs.stream().flatMap(pair -> Stream.of(pair.old(), pair.now())).toList();
    }

    /** Whether the sides do not say the same, or one of the other conditions is not true. */
    private String disagreement(List<Pair> pairs, List<String> others) {
        List<String> conditions = new ArrayList<>();
        for (Pair pair : pairs) {
            conditions.add(pair.agrees(old(pair), now(pair), item()));
        }
        conditions.addAll(others);
        return conditions.isEmpty() ? "false" : "(" + String.join("\n        AND ", conditions) + ") IS NOT TRUE";
    }

    /** What is true of a row that lacks nothing and does not contradict itself. */
    private List<String> complete() {
        List<String> conditions = new ArrayList<>();
        if (table.processed() != null) {
            conditions.add("(" + processed() + " = (" + now("status") + " = 2) OR " + now("status") + " = 3)");
        }
        for (Canonical.Column column : table.kind().canonical.columns()) {
            if (column.notNull() && !column.name().equals(Canonical.SEQUENCE)) {
                conditions.add(now(column.name()) + " IS NOT NULL");
            }
        }
        return conditions;
    }

    private List<String> processedFollows() {
        return table.processed() == null ? List.of() : List.of(processed() + " = (" + now("status") + " = 2)");
    }

    private String inserted() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : table.pairs()) {
            if (!isDoubled(pair)) {
                text.append("    IF %1$s IS NULL AND %3$s IS NOT NULL THEN %1$s := %2$s; ELSE %3$s := %4$s; END IF;\n"
                        .formatted(now(pair), pair.toNew(old(pair)), old(pair), toOld(pair)));
            }
        }
        if (table.processed() != null) {
            Pair status = table.pair("status");
            String found =
                    status == null ? now("status") : "COALESCE(" + now(status) + ", " + status.toNew(old(status)) + ")";
            text.append("    %s := %s;\n"
                    .formatted(
                            now("status"),
                            status == null
                                    ? done(found)
                                    : "CASE WHEN " + now("status") + " IS NULL THEN " + done(found) + " ELSE "
                                            + now("status") + " END"));
            text.append(oldStatus(""));
            text.append(stampDone());
        }
        return text.toString();
    }

    /** A row of an old writer, where what the new columns have is a mere default: what the old ones say counts. */
    private String adopted() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : table.pairs()) {
            if (!isDoubled(pair)) {
                text.append("    IF %3$s IS NULL THEN %3$s := %4$s; ELSE %1$s := %2$s; END IF;\n"
                        .formatted(now(pair), pair.toNew(old(pair)), old(pair), toOld(pair)));
            }
        }
        if (table.processed() != null) {
            Pair status = table.pair("status");
            String found =
                    status == null ? now("status") : "COALESCE(" + status.toNew(old(status)) + ", " + now(status) + ")";
            text.append("    %s := %s;\n".formatted(now("status"), done(found)));
            text.append(oldStatus(""));
            text.append(stampDone());
        }
        return text.toString();
    }

    /** What a row's status is whose old columns may contradict each other: who processed it, did. */
    private String done(String status) {
        return "CASE WHEN " + processed() + " AND " + status + " < 2 THEN 2 ELSE " + status + " END";
    }

    private String updated() {
        StringBuilder text = new StringBuilder();
        for (Pair pair : table.pairs()) {
            if (!isDoubled(pair)) {
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
                                old(pair),
                                toOld(pair),
                                now(pair),
                                before(pair.now()),
                                before(pair.old()),
                                pair.toNew(old(pair)),
                                indent(indent(refuse(pair.old(), pair.now())))));
            }
        }
        if (table.processed() != null) {
            text.append(updatedStatus());
        }
        return text.toString();
    }

    /** The three-way table of Status, IsProcessed and the new status. */
    private String updatedStatus() {
        Pair pair = table.pair("status");
        String now = now("status");
        String status = pair == null ? now : old(pair);
        String nowChanged = now + " IS DISTINCT FROM " + before(table.now("status"));
        String statusChanged = pair == null ? "false" : old(pair) + " IS DISTINCT FROM " + before(pair.old());
        String processedChanged = processed() + " IS DISTINCT FROM " + beforeProcessed();
        String refuse = refuse(String.valueOf(table.processed()), table.now("status"));
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
                        processed(),
                        indent(indent(refuse)),
                        indent(oldStatus(processedChanged)),
                        done(status),
                        stampDone());
    }

    /** @param mayDiffer when IsProcessed of a Dead row is left as its writer set it */
    private String oldStatus(String mayDiffer) {
        Pair pair = table.pair("status");
        String now = now("status");
        String dead = mayDiffer.isEmpty() ? now + " = 3" : now + " = 3 AND " + mayDiffer;
        return (pair == null ? "" : "    %s := %s;\n".formatted(old(pair), toOld(pair)))
                + "    %1$s := CASE WHEN %2$s THEN %1$s ELSE %3$s = 2 END;\n".formatted(processed(), dead, now);
    }

    /** Whoever calls a row Done may not say when; purge goes by when. */
    private String stampDone() {
        Pair pair = table.pair("processed_on");
        String now = now("processed_on");
        return "    IF %1$s = 2 AND %2$s IS NULL THEN %2$s := statement_timestamp();%3$s END IF;\n"
                .formatted(now("status"), now, pair == null ? "" : " %s := %s;".formatted(old(pair), toOld(pair)));
    }

    private String onlyOldChanged(List<Pair> pairs, List<String> others) {
        List<String> conditions = pairs.stream()
                .map(pair -> "%1$s IS DISTINCT FROM %2$s AND %1$s IS DISTINCT FROM %3$s"
                        .formatted(old(pair), before(pair.old()), toOld(pair)))
                .collect(Collectors.toCollection(ArrayList::new));
        conditions.addAll(others);
        return conditions.isEmpty() ? "false" : String.join("\n            OR ", conditions);
    }

    private List<String> onlyOldProcessed() {
        List<String> conditions = new ArrayList<>(List.of(byOldOnly()));
        if (table.processed() != null) {
            conditions.add("%1$s IS DISTINCT FROM %2$s AND %1$s <> (%3$s = 2) AND %3$s <> 3"
                    .formatted(processed(), beforeProcessed(), now("status")));
        }
        return conditions;
    }

    private String filled(List<Pair> pairs) {
        return pairs.stream()
                        .map(pair -> "    " + old(pair) + " := " + toOld(pair) + ";\n")
                        .collect(Collectors.joining())
                + (table.processed() == null ? "" : "    %s := %s = 2;\n".formatted(processed(), now("status")));
    }

    private String filledIfChanged(List<Pair> pairs) {
        return pairs.stream()
                .map(pair -> "    IF %s IS DISTINCT FROM %s THEN %s := %s; END IF;\n"
                        .formatted(now(pair), before(pair.now()), old(pair), toOld(pair)))
                .collect(Collectors.joining());
    }

    /** What no old column tells of. */
    private String fills() {
        StringBuilder text = new StringBuilder();
        for (Canonical.Column column : table.kind().canonical.columns()) {
            String fill = Fills.of(table, consumer, column.name(), this::now);
            if (fill != null && table.pair(column.name()) == null) {
                text.append("    IF %1$s IS NULL THEN %1$s := %2$s; END IF;\n".formatted(now(column.name()), fill));
            }
        }
        return text.toString();
    }

    private static String refuse(String old, String now) {
        return """
                    RAISE EXCEPTION 'columns %s and %s were set to different values in one statement'
                        USING ERRCODE = 'integrity_constraint_violation',
                            HINT = 'Write one of the two, or the same to both.';
                """.formatted(message(old), message(now));
    }

    /** A name in the text of a RAISE. */
    private static String message(String name) {
        return name.replace("'", "''").replace("%", "%%");
    }

    private boolean isDoubled(Pair pair) {
        return pair.isStatus() && table.processed() != null;
    }

    private String item() {
        return now("work_item_id");
    }

    private String now(String canonical) {
        return "NEW." + Quoted.name(table.now(canonical));
    }

    private static String now(Pair pair) {
        return "NEW." + Quoted.name(pair.now());
    }

    private static String old(Pair pair) {
        return "NEW." + Quoted.name(pair.old());
    }

    private static String before(String column) {
        return "OLD." + Quoted.name(column);
    }

    private String processed() {
        return "NEW." + Quoted.name(String.valueOf(table.processed()));
    }

    private String beforeProcessed() {
        return before(String.valueOf(table.processed()));
    }

    private String toOld(Pair pair) {
        return pair.toOld(now(pair), item());
    }

    private static String indent(String text) {
        return text.lines().map(line -> "    " + line + "\n").collect(Collectors.joining());
    }
}
