package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.migrations.Canonical.Column;
import dev.outbox.migrations.Finding.Concern;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Looks a table over: its catalog first, then its rows. */
final class Verifier {
    private static final String READERS = """
            SELECT DISTINCT c.relkind::text || ' ' || c.oid::regclass::text, a.attname
            FROM pg_depend d
            JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            JOIN pg_class c ON c.oid = r.ev_class
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = %1$s
            UNION
            SELECT 'p ' || p.pubname, a.attname
            FROM pg_publication_rel pr
            JOIN pg_publication p ON p.oid = pr.prpubid
            LEFT JOIN pg_depend d ON d.classid = 'pg_publication_rel'::regclass AND d.objid = pr.oid
                AND d.refobjid = pr.prrelid AND d.refobjsubid > 0
            LEFT JOIN pg_attribute a ON a.attrelid = pr.prrelid AND a.attnum = d.refobjsubid
            WHERE pr.prrelid = %1$s
            UNION
            SELECT 'p ' || p.pubname, NULL
            FROM pg_publication_tables t
            JOIN pg_publication p ON p.pubname = t.pubname
            JOIN pg_namespace n ON n.nspname = t.schemaname
            JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
            WHERE c.oid = %1$s
              AND NOT EXISTS (SELECT FROM pg_publication_rel pr WHERE pr.prpubid = p.oid AND pr.prrelid = c.oid)
            """;

    private static final String REFERENCES = """
            SELECT f.conname, f.conrelid::regclass::text, string_agg(a.attname, ', ' ORDER BY a.attname)
            FROM pg_constraint f
            JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey)
            WHERE f.contype = 'f' AND f.confrelid = %s AND a.attname = ANY (%s)
            GROUP BY f.conname, f.conrelid
            """;

    private final Connection connection;
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final Upgrade.Options options;
    private final TableSql sql;
    private final List<Finding> findings = new ArrayList<>();

    Verifier(Connection connection, LegacyTable table, @Nullable String consumer, Upgrade.Options options) {
        this.connection = connection;
        this.table = table;
        this.consumer = consumer;
        this.options = options;
        this.sql = new TableSql(table, options);
    }

    TableReport report() throws SQLException {
        if (table.isLeaving()) {
            add(
                    Concern.LEAVING,
                    "it is on its way back to phase 0, and still has the columns of phase 1; take it back once more to"
                            + " go on, or run phase 1 again to return",
                    false);
        } else if (table.phase() == Phase.LEGACY) {
            legacyColumns();
        } else if (columns()) {
            indexes();
            sync();
            oldWriters();
            rows();
            readers();
            references();
            begun();
            age();
            pollers();
        }
        strangers();
        return new TableReport(
                table.name().toString(), table.phase(), Optional.ofNullable(table.since()), next(), findings);
    }

    private Phase next() {
        return switch (table.phase()) {
            case LEGACY -> Phase.ADDITIVE;
            case ADDITIVE -> Phase.DUAL;
            case DUAL -> Phase.FLIPPED;
            case FLIPPED -> table.needsSettling() ? Phase.RENAMING : Phase.CLEAN;
            case RENAMING, CLEAN -> Phase.CLEAN;
        };
    }

    private boolean reached(Phase phase) {
        return table.phase().compareTo(phase) >= 0;
    }

    /** What a legacy table has to have, and in types that can be taken over. */
    private void legacyColumns() throws SQLException {
        for (String needed : table.kind() == Kind.OUTBOX
                ? List.of("work_item_id", "status", "topic", "payload", "created_on")
                : List.of("message_id", "source", "status", "topic", "payload", "first_seen_on")) {
            if (table.pair(needed) == null && !table.columns().containsKey(needed)) {
                wrong(Concern.COLUMN_MISSING, "no column stands for " + needed, Phase.ADDITIVE);
            }
        }
        for (Pair pair : table.pairs()) {
            if (!pair.fits()) {
                wrong(
                        Concern.COLUMN_TYPE,
                        "column " + pair.old() + " is " + pair.oldType() + ", which "
                                + pair.column().name() + " (" + pair.column().type()
                                + ") cannot be made from; change its type first",
                        Phase.ADDITIVE);
            }
        }
        if (table.columns().containsKey(Canonical.SEQUENCE)) {
            wrong(
                    Concern.COLUMN_TYPE,
                    "a column is called sequence already, which the database has to number; rename it first",
                    Phase.ADDITIVE);
        }
        if (findings.isEmpty()) {
            rows();
        }
    }

    /** @return whether the rows can be looked at */
    private boolean columns() {
        boolean all = true;
        for (Column column : table.kind().canonical.columns()) {
            String name = table.now(column.name());
            LegacyTable.Found found = table.columns().get(name);
            if (found == null) {
                all = false;
                wrong(Concern.COLUMN_MISSING, "column " + name + " is missing; run phase 1 again", next(), Phase.CLEAN);
            } else if (!found.is(column)
                    || (table.phase() == Phase.CLEAN && !found.type().equals(column.type()))) {
                wrong(
                        Concern.COLUMN_TYPE,
                        "column " + name + " must be " + column.definition() + ", was " + found.type()
                                + (found.bytewise() ? " COLLATE \"C\"" : ""),
                        next());
            } else if (reached(Phase.FLIPPED) && column.notNull() != found.notNull() && !isBeingSettled(column)) {
                wrong(
                        Concern.COLUMN_NULLABILITY,
                        "column " + name + (column.notNull() ? " must not allow nulls" : " must allow nulls"),
                        next());
            }
        }
        return all;
    }

    /** Settling has begun, and was interrupted or is not yet at its end: the column is being filled. */
    private boolean isBeingSettled(Column column) {
        return table.phase() == Phase.FLIPPED && table.settled().contains(column.name());
    }

    private void indexes() {
        table.indexes().forEach((name, valid) -> {
            if (!valid) {
                List<Phase> blocks = new ArrayList<>();
                if (!isBuiltByFlip(name)) {
                    blocks.add(Phase.FLIPPED);
                }
                if (!name.endsWith("_new")) { // which settling builds anew
                    blocks.add(Phase.RENAMING);
                }
                if (!isBuiltByClean(name)) {
                    blocks.add(Phase.CLEAN);
                }
                add(
                        Concern.INDEX_INVALID,
                        "index " + name + " was left invalid by a failed build; " + remedy(name),
                        reached(Phase.DUAL),
                        blocks.toArray(Phase[]::new));
            }
        });
        if (reached(Phase.DUAL)) {
            for (Canonical.Index index : table.kind().canonical.indexes()) {
                if (!table.indexes().containsKey(own(index.suffix()))) {
                    wrong(
                            Concern.INDEX_MISSING,
                            "index " + own(index.suffix()) + " is missing; run " + table.phase() + " again",
                            Phase.FLIPPED,
                            Phase.RENAMING);
                }
            }
        }
    }

    private String remedy(String index) {
        if (index.equals(own("_pkey_old")) || (index.equals(own("_pkey_new")) && next() == Phase.CLEAN)) {
            return "go back to " + Phase.DUAL + " again, which rebuilds it, or drop it";
        }
        Phase builder = reached(Phase.FLIPPED) ? next() : isBuiltByFlip(index) ? Phase.FLIPPED : Phase.DUAL;
        return "run " + builder + " again, which rebuilds it";
    }

    /** The key of an outbox; the flip was interrupted. */
    private boolean isBuiltByFlip(String index) {
        return !reached(Phase.FLIPPED) && table.kind() == Kind.OUTBOX && index.equals(own("_pkey_new"));
    }

    private String own(String suffix) {
        return table.name().name() + suffix;
    }

    /** The clean-up goes on where it was interrupted. */
    private boolean isBuiltByClean(String index) {
        return reached(Phase.FLIPPED)
                && table.kind().canonical.indexes().stream()
                        .map(canonical -> own(canonical.suffix()))
                        .anyMatch(name -> index.equals(name) || index.equals(name + "_wide"));
    }

    private void sync() throws SQLException {
        if (table.phase() != Phase.CLEAN && !isTrue(SyncTrigger.areThere(table))) {
            wrong(
                    Concern.SYNC_MISSING,
                    Guard.unsynced(table, table.phase()),
                    Phase.DUAL,
                    Phase.FLIPPED,
                    Phase.RENAMING);
        }
    }

    private void oldWriters() throws SQLException {
        if (isTrue(sql.isWrittenLately())) {
            add(
                    Concern.OLD_WRITER,
                    Guard.written(options.quietFor()),
                    false,
                    Phase.FLIPPED,
                    Phase.RENAMING,
                    Phase.CLEAN);
        }
    }

    private void rows() throws SQLException {
        findings.addAll(new RowChecks(table, consumer, table.phase()).findings(connection));
    }

    private void readers() throws SQLException {
        List<String> old = table.oldColumns();
        List<String> retyped = table.retyped().stream().map(Column::name).toList();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READERS.formatted(sql.regclass()))) {
            while (row.next()) {
                String reader = row.getString(1);
                if (row.getString(2) == null && !old.isEmpty()) {
                    add(
                            Concern.OLD_READER,
                            "publication " + reader.substring(2) + " sends whole rows: whoever subscribes to it has to"
                                    + " manage without the old columns after phase 4",
                            false);
                } else if (old.contains(row.getString(2))) {
                    add(
                            Concern.OLD_READER,
                            (reader.startsWith("p ") ? "publication " : "view ") + reader.substring(2)
                                    + " reads the old column " + row.getString(2) + "; change or drop it first",
                            false,
                            Phase.RENAMING,
                            Phase.CLEAN);
                } else if (retyped.contains(row.getString(2)) && !reader.startsWith("p ")) {
                    add(
                            Concern.OLD_READER,
                            "view " + reader.substring(2) + " reads the column " + row.getString(2)
                                    + ", whose type is going to change; drop it, and create it again after phase 4",
                            false,
                            Phase.CLEAN);
                }
            }
        }
    }

    /** A foreign key needs the key that phase 3 replaces, or a column that phase 4 drops. */
    private void references() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(REFERENCES.formatted(sql.regclass(), sql.going()))) {
            while (row.next()) {
                add(
                        Concern.OLD_READER,
                        "foreign key " + row.getString(1) + " of " + row.getString(2) + " names " + row.getString(3)
                                + ", which is going to be dropped; drop it first",
                        false,
                        Phase.FLIPPED,
                        Phase.RENAMING,
                        Phase.CLEAN);
            }
        }
    }

    /** No obstacle, for whoever repeats the flip ends it; but old applications may fail meanwhile. */
    private void begun() throws SQLException {
        if (table.phase() == Phase.DUAL && isTrue(sql.hasCanonicalChecks())) {
            add(
                    Concern.INTERRUPTED,
                    Phase.FLIPPED
                            + " was begun, and its rules count already, which an old application may break; run it"
                            + " again to go on, or go back to " + Phase.DUAL + " to take them away",
                    false);
        }
    }

    private void age() throws SQLException {
        if (table.phase() != Phase.ADDITIVE && table.phase() != Phase.CLEAN && isTrue(sql.isYoung(table.phase()))) {
            add(Concern.TOO_RECENT, Guard.young(table.phase(), sql.noticed()), false, next());
        }
    }

    /** Pollers that tell of themselves also tell which phase they read; they do so twice a minute. */
    private void pollers() throws SQLException {
        if (table.phase() != Phase.CLEAN
                && isTrue(sql.hasPollers())
                && number("SELECT count(*) FROM " + sql.pollersBefore(table.phase())) > 0) {
            add(Concern.OLD_POLLER, Guard.unaware(table.phase()), false, next());
        }
    }

    /** Columns of the application's own that our inserts would not fill. */
    private void strangers() {
        List<String> known = new ArrayList<>(table.oldColumns());
        table.kind().canonical.columns().forEach(column -> known.add(table.now(column.name())));
        table.settled().forEach(column -> known.add(LegacyNames.interim(column)));
        for (LegacyTable.Found found : table.columns().values()) {
            if (found.notNull() && !found.hasDefault() && !known.contains(found.name())) {
                wrong(
                        Concern.COLUMN_NULLABILITY,
                        "column " + found.name() + " is none of the outbox's, must not be null and has no default, so"
                                + " that no message can be stored; give it a default or allow nulls",
                        next());
            }
        }
    }

    private void wrong(Concern concern, String text, Phase... blocks) {
        add(concern, text, true, blocks);
    }

    private void add(Concern concern, String text, boolean wrong, Phase... blocks) {
        findings.add(new Finding(concern, text, 0, wrong, Set.of(distinct(blocks))));
    }

    private static Phase[] distinct(Phase... phases) {
        return List.of(phases).stream().distinct().toArray(Phase[]::new);
    }

    private boolean isTrue(String condition) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + condition)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
