package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.BackfillStatements;
import dev.outbox.migrations.internal.Literal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a backfill.
 *
 * <p>In phases 1 to 3 a row is incomplete if it has no sequence; it gets its place in the order of creation, unfinished
 * rows first, all below the numbers of rows that are inserted meanwhile. During the renaming a row is incomplete if a
 * canonical column differs from its interim one.
 */
final class PostgresBackfill implements BackfillStatements {
    private static final String UNDEFINED_TABLE = "42P01";

    private final LegacyTable table;
    private final @Nullable String consumer;
    private final String list;
    private final boolean renames;

    PostgresBackfill(LegacyTable table, @Nullable String consumer) {
        this.table = table;
        this.consumer = consumer;
        this.list = table.relation("_backfill");
        this.renames = !table.replacing().isEmpty();
    }

    /** Whether a row, called t, is incomplete. */
    String condition() {
        return renames
                ? "("
                        + String.join(
                                " OR ",
                                table.replacing().stream()
                                        .map(column -> "t.%s IS DISTINCT FROM t.%s"
                                                .formatted(
                                                        Quoted.postgres(column),
                                                        Quoted.postgres(LegacyNames.interim(column))))
                                        .toList())
                        + ")"
                : "t.sequence IS NULL";
    }

    @Override
    public String incomplete() {
        return "SELECT count(*) FROM " + table.quoted() + " t WHERE " + condition();
    }

    @Override
    public List<String> list() {
        String key = keys("t.%1$s");
        String status = table.pair("status") == null ? "t." + Quoted.postgres(table.now("status")) : status("t.");
        String order = renames ? key : status + " >= 2, " + created() + ", " + key;
        String base = renames
                ? "0"
                : "(SELECT COALESCE(max(sequence), 0) FROM %s WHERE sequence < (SELECT start_value FROM pg_sequences WHERE"
                                .formatted(table.quoted())
                        + " schemaname = %s AND sequencename = %s))"
                                .formatted(
                                        Literal.text(String.valueOf(table.name().schema())),
                                        Literal.text(table.name().name() + "_sequence_seq"));
        return List.of(
                "SELECT pg_advisory_xact_lock(1870034018, hashtext(" + Literal.text(list) + "))",
                Block.of("""
                BEGIN
                    IF to_regclass(%1$s) IS NULL THEN
                        CREATE TABLE %2$s AS
                            SELECT %3$s + row_number() OVER (ORDER BY %4$s) AS position, %5$s
                            FROM %6$s t WHERE %7$s;
                        ALTER TABLE %2$s ADD PRIMARY KEY (position);
                        ANALYZE %2$s;
                    END IF;
                END""".formatted(Literal.text(list), list, base, order, key, table.quoted(), condition())));
    }

    @Override
    public String remaining() {
        return "SELECT count(*) FROM " + list;
    }

    @Override
    public String first() {
        return "SELECT min(position) FROM " + list;
    }

    @Override
    public String last() {
        return "SELECT max(position) FROM " + list;
    }

    @Override
    public String complete(String after, String to) {
        return """
                UPDATE %1$s t SET %2$s
                FROM (
                    SELECT l.position, %3$s
                    FROM %4$s l JOIN %1$s t ON %5$s
                    WHERE l.position > %6$s AND l.position <= %7$s AND %8$s
                    FOR UPDATE OF t SKIP LOCKED) l
                WHERE %5$s AND %8$s""".formatted(
                table.quoted(),
                String.join(", ", assignments()),
                keys("t.%1$s"),
                list,
                String.join(
                        " AND ",
                        keyList().stream().map("t.%1$s = l.%1$s"::formatted).toList()),
                after,
                to,
                condition());
    }

    @Override
    public String crossOff(String after, String to) {
        return """
                DELETE FROM %1$s l WHERE l.position > %2$s AND l.position <= %3$s
                  AND NOT EXISTS (SELECT FROM %4$s t WHERE %5$s AND %6$s)""".formatted(
                list,
                after,
                to,
                table.quoted(),
                String.join(
                        " AND ",
                        keyList().stream().map("t.%1$s = l.%1$s"::formatted).toList()),
                condition());
    }

    @Override
    public String forget() {
        return "DROP TABLE IF EXISTS " + list;
    }

    @Override
    public Optional<String> deadTuples() {
        return Optional.of("SELECT n_dead_tup FROM pg_stat_all_tables WHERE relid = " + Literal.text(table.quoted())
                + "::regclass");
    }

    @Override
    public Optional<String> lag() {
        return Optional.of(
                "SELECT COALESCE(extract(epoch FROM max(replay_lag)) * 1000, 0)::bigint FROM pg_stat_replication");
    }

    @Override
    public boolean isListGone(SQLException e) {
        return UNDEFINED_TABLE.equals(e.getSQLState());
    }

    /** Rows that are locked are left out, so that it cannot be part of one. */
    @Override
    public boolean isDeadlock(SQLException e) {
        return false;
    }

    @Override
    public String script(int batch, Duration pause) {
        return """
                BEGIN;
                %1$s;
                COMMIT;
                %2$s;
                %3$s;
                """.formatted(
                        String.join(";\n", list()),
                        Block.of("""
                DECLARE
                    at bigint;
                    last bigint;
                BEGIN
                    LOOP
                        SELECT min(position) - 1, max(position) INTO at, last FROM %1$s;
                        EXIT WHEN last IS NULL;
                        WHILE at < last LOOP
                            %2$s;
                            %3$s;
                            COMMIT;
                            at := at + %4$d;
                            PERFORM pg_sleep(%5$s);
                        END LOOP;
                    END LOOP;
                END""".formatted(
                                        list,
                                        complete("at", "at + " + batch),
                                        crossOff("at", "at + " + batch),
                                        batch,
                                        pause.toMillis() / 1000.0)),
                        forget());
    }

    private List<String> assignments() {
        List<String> assignments = new ArrayList<>();
        if (renames) {
            table.replacing()
                    .forEach(column -> assignments.add(
                            Quoted.postgres(column) + " = t." + Quoted.postgres(LegacyNames.interim(column))));
            return assignments;
        }
        assignments.add("sequence = l.position");
        for (Canonical.Column column : table.canonical().columns()) {
            Pair pair = table.pair(column.name());
            String now = Quoted.postgres(table.now(column.name()));
            String fill = Fills.of(table, consumer, column.name(), this::oldest);
            if (column.name().equals("status")) {
                assignments.addAll(statusAssignments(now, pair));
            } else if (column.name().equals("processed_on")) {
                assignments.addAll(timeAssignments(now, pair));
            } else if (pair != null) {
                assignments.add(now + " = " + pair.toNew("t." + Quoted.postgres(pair.old())));
            } else if (fill != null) {
                assignments.add("%1$s = COALESCE(t.%1$s, %2$s)".formatted(now, fill));
            }
        }
        return assignments;
    }

    /** Corrects old columns that contradict each other too, or an old application would deliver the message again. */
    private List<String> statusAssignments(String now, @Nullable Pair pair) {
        List<String> assignments = new ArrayList<>();
        String status = status("t.");
        if (pair != null || table.processed() != null) {
            assignments.add(now + " = " + status);
        }
        if (table.processed() != null) {
            String processed = Quoted.postgres(table.processed());
            if (pair != null) {
                assignments.add(Quoted.postgres(pair.old()) + " = " + status);
            }
            assignments.add("%1$s = CASE WHEN %2$s = 3 THEN t.%1$s ELSE %2$s = 2 END".formatted(processed, status));
        }
        return assignments;
    }

    /** A finished row without a time would never be purged. */
    private List<String> timeAssignments(String now, @Nullable Pair pair) {
        String old = pair == null ? now : Quoted.postgres(pair.old());
        String time = "CASE WHEN %s >= 2 THEN COALESCE(t.%2$s, statement_timestamp()) ELSE t.%2$s END"
                .formatted(status("t."), old);
        return pair == null ? List.of(now + " = " + time) : List.of(now + " = " + time, old + " = " + time);
    }

    /** The status according to the old columns. */
    private String status(String row) {
        Pair pair = table.pair("status");
        String status = pair == null
                ? row + Quoted.postgres(table.now("status"))
                : "(" + pair.toNew(row + Quoted.postgres(pair.old())) + ")";
        return table.processed() == null
                ? status
                : "(CASE WHEN %s AND %s < 2 THEN 2 ELSE %s END)"
                        .formatted(row + Quoted.postgres(table.processed()), status, status);
    }

    private String created() {
        return oldest(table.kind() == TableKind.OUTBOX ? "created_on" : "first_seen_on");
    }

    private String oldest(String canonical) {
        return "t." + Quoted.postgres(table.oldest(canonical));
    }

    private List<String> keyList() {
        List<String> key = table.columns().values().stream()
                .filter(Column::keyed)
                .map(Column::name)
                .map(Quoted::postgres)
                .toList();
        return key.isEmpty() ? List.of(Quoted.postgres(table.rowKey())) : key;
    }

    private String keys(String format) {
        return String.join(", ", keyList().stream().map(format::formatted).toList());
    }
}
