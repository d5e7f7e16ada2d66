package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.Literal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the triggers that keep old and new columns equal.
 *
 * <p>In phases 1 and 2 they work both ways ({@link SyncBothWays}), in phase 3 onward only ({@link SyncOnward}). If a statement
 * writes both sides, the triggers' conditions are false, and no function is called.
 *
 * <p>A row whose old columns were copied to new ones is stamped in {@code legacy_write_on}: so an old writer is noticed. A row
 * may be deleted with its stamp, so the time is also kept in a sequence, which no transaction locks and no rollback undoes.
 *
 * <p><b>Rights.</b> Two functions, because PostgreSQL lets a role attach every trigger function that it may execute to a
 * table of its own, and assigning to a column runs code that belongs to the column's type. The function that copies columns
 * therefore has the rights of the writer. Only the sequence needs the rights of its owner: a second function sets it, and
 * reads and writes no column. It is told by the stamp, in the WHEN clauses of triggers that come after the others by their
 * names: the time of the statement is to be noted, {@code infinity} is to be noted and refused. No role but the owner
 * may execute either function; a trigger asks for that right when it is created, not when it fires.
 */
final class SyncTrigger {
    private static final String COPY = "_sync";
    private static final String NOTE = "_old_write";
    private static final List<String> FUNCTIONS = List.of(COPY, NOTE);

    private static final List<String> COPYING = List.of("_sync", "_sync_update", "_sync_named");

    /** Triggers fire in the order of their names, so that these see what the others have set. */
    private static final List<String> NOTING = List.of("_sync_veto", "_sync_written");

    /** The stamp of a row whose change is refused. It is never stored, or later changes of the row would be refused too. */
    static final String REFUSED = "'infinity'";

    private final LegacyTable table;
    private final SyncRow row;

    /** @param consumer whose the rows of a legacy inbox are */
    SyncTrigger(LegacyTable table, @Nullable String consumer) {
        this.table = table;
        this.row = new SyncRow(table, consumer);
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

    /** The triggers of phases 1 and 2. */
    List<String> bothWays() {
        return create(
                new SyncBothWays(row).body(),
                row.disagreement(table.pairs(), row.complete()),
                row.disagreement(row.pairs(false), row.complete()) + "\n        OR " + row.byOldOnly());
    }

    /** The triggers of phase 3. */
    List<String> onward() {
        return create(
                new SyncOnward(row).body(),
                "",
                row.disagreement(row.pairs(false), row.processedFollows()) + "\n        OR " + row.byOldOnly());
    }

    /**
     * Gives the functions to the owner of the table, whichever role created them, and revokes them from all others: PostgreSQL
     * grants new ones to PUBLIC, default privileges give them to others, and an earlier version left them so. A role that
     * cannot do this fails by the first statement, since REVOKE alone would only warn.
     */
    String close() {
        return Block.of("""
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
                        Literal.text(table.quoted())));
    }

    private static String oid(LegacyTable table, String suffix) {
        return "to_regprocedure(" + Literal.text(function(table, suffix)) + ")";
    }

    /** Notes the old writer in the sequence, which no rollback undoes, and then refuses. No column may be read or set here. */
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
                END""".formatted(
                        Literal.text(table.relation("_old_writes")),
                        Block.escaped(table.name().toString()));
    }

    /**
     * @param insert when a row that is inserted needs the function; empty means always
     * @param update when a row that is updated needs it
     */
    private List<String> create(String body, String insert, String update) {
        List<Pair> fixed = row.pairs(true);
        List<String> statements = new ArrayList<>();
        statements.add(createFunction(COPY, "SECURITY INVOKER", body));
        statements.add(createFunction(NOTE, "SECURITY DEFINER", noting()));
        statements.add(close());
        statements.addAll(dropTriggers());
        statements.add(trigger("_sync", "INSERT", insert, COPY, ""));
        statements.add(trigger("_sync_update", "UPDATE", update, COPY, ""));
        if (!fixed.isEmpty()) {
            String columns = fixed.stream()
                    .flatMap(pair -> Stream.of(pair.old(), pair.now()))
                    .map(Quoted::postgres)
                    .collect(Collectors.joining(", "));
            statements.add(trigger(
                    "_sync_named", "UPDATE OF " + columns, row.disagreement(fixed, List.of()), COPY, "'named'"));
        }
        String stamp = "NEW." + LegacyNames.LEGACY_WRITE;
        statements.add(trigger("_sync_veto", "INSERT OR UPDATE", stamp + " = " + REFUSED, NOTE, "'refuse'"));
        statements.add(trigger("_sync_written", "INSERT OR UPDATE", stamp + " = statement_timestamp()", NOTE, ""));
        return statements;
    }

    /** A function that is replaced keeps its owner and its grants, and nothing else. */
    private String createFunction(String suffix, String rights, String body) {
        return "CREATE OR REPLACE FUNCTION " + function(table, suffix) + " RETURNS trigger LANGUAGE plpgsql " + rights
                + " SET search_path = pg_catalog, pg_temp AS " + Block.body(body);
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
                        !suffix.equals("_sync_named") || table.pairs().stream().anyMatch(SyncRow::isFixed))
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
                        Literal.text(table.quoted()),
                        String.join(", ", names.stream().map(Literal::text).toList()),
                        names.size());
    }
}
