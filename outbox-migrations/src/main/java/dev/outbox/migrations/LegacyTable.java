package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.OrdinaryTable;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A table on its way, as it was found in the catalog: which columns are there, which of them are old, and which new
 * column stands or will stand for each.
 *
 * <p>A column that has the canonical name and type from the start is shared: it is old and new at once. Every other
 * canonical column is added under its name or, where an old column of another type has that, under an interim one.
 *
 * @param name with its schema
 * @param phase where it is
 * @param since when it came there, if the comment says so
 * @param columns as found, by name
 * @param pairs old columns with the new ones that replace them
 * @param processed the old column that says Done a second time ({@code IsProcessed}), or null
 * @param primaryKey the name of the primary key, or null
 * @param indexes by name, and whether they are valid
 */
record LegacyTable(
        TableName name,
        Kind kind,
        Phase phase,
        @Nullable Instant since,
        Map<String, Found> columns,
        List<Pair> pairs,
        @Nullable String processed,
        @Nullable String primaryKey,
        Map<String, Boolean> indexes) {

    /** A column that is there. */
    record Found(String name, String type, boolean notNull, boolean bytewise, boolean keyed, boolean hasDefault) {
        boolean is(Canonical.Column column) {
            return (type.equals(column.type()) || (Pair.isText(type) && Pair.isText(column.type())))
                    && bytewise == column.bytewise();
        }
    }

    private static final String TABLE = """
            SELECT n.nspname, obj_description(c.oid, 'pg_class'),
                (SELECT conname FROM pg_catalog.pg_constraint WHERE conrelid = c.oid AND contype = 'p'),
                ARRAY(SELECT i.indisvalid || ' ' || x.relname FROM pg_catalog.pg_index i
                    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid),
                c.relkind, EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid)
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = to_regclass(?)
            """;

    private static final String COLUMNS = """
            SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                a.attcollation = '"C"'::regcollation::oid,
                EXISTS (SELECT FROM pg_catalog.pg_constraint
                    WHERE conrelid = a.attrelid AND contype = 'p' AND a.attnum = ANY (conkey)),
                a.atthasdef OR a.attidentity <> ''
            FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum
            """;

    static LegacyTable read(Connection connection, TableName name, Kind kind) throws SQLException {
        String quoted = Quoted.table(name);
        TableName found;
        String comment;
        String primaryKey;
        Map<String, Boolean> indexes = new LinkedHashMap<>();
        try (PreparedStatement table = connection.prepareStatement(TABLE)) {
            table.setString(1, quoted);
            try (ResultSet row = table.executeQuery()) {
                if (!row.next()) {
                    throw new OutboxException("table \"" + name + "\" not found; name it as name or schema.name, or"
                            + " install it with OutboxMigrations.install(...)");
                }
                found = name.in(row.getString(1));
                OrdinaryTable.check(found, row.getString(5), row.getBoolean(6));
                comment = row.getString(2);
                primaryKey = row.getString(3);
                for (String index : (String[]) row.getArray(4).getArray()) {
                    int space = index.indexOf(' ');
                    indexes.put(index.substring(space + 1), index.startsWith("true"));
                }
            }
        }
        Map<String, Found> columns = new LinkedHashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
            statement.setString(1, quoted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    columns.put(
                            row.getString(1),
                            new Found(
                                    row.getString(1),
                                    row.getString(2),
                                    row.getBoolean(3),
                                    row.getBoolean(4),
                                    row.getBoolean(5),
                                    row.getBoolean(6)));
                }
            }
        }
        return of(found, kind, comment, columns, primaryKey, indexes);
    }

    private static LegacyTable of(
            TableName name,
            Kind kind,
            @Nullable String comment,
            Map<String, Found> columns,
            @Nullable String primaryKey,
            Map<String, Boolean> indexes) {
        Optional<PhaseMarker> marker = PhaseMarker.read(comment);
        Phase phase = marker.map(PhaseMarker::phase).orElse(Phase.LEGACY);
        Instant since = marker.flatMap(PhaseMarker::since).orElse(null);
        return map(name, kind, phase, since, columns, primaryKey, indexes);
    }

    private static LegacyTable map(
            TableName name,
            Kind kind,
            Phase phase,
            @Nullable Instant since,
            Map<String, Found> columns,
            @Nullable String primaryKey,
            Map<String, Boolean> indexes) {
        LegacyTable table = new LegacyTable(name, kind, phase, since, columns, List.of(), null, primaryKey, indexes);
        List<Pair> pairs = new ArrayList<>();
        for (Canonical.Column column : kind.canonical.columns()) {
            String now = table.now(column.name());
            table.old(column.name(), now).ifPresent(old -> pairs.add(new Pair(column, old.name(), old.type(), now)));
        }
        String processed = kind == Kind.OUTBOX
                ? table.names().like(LegacyNames.IS_PROCESSED, null).orElse(null)
                : null;
        return new LegacyTable(name, kind, phase, since, columns, pairs, processed, primaryKey, indexes);
    }

    /** The name of the new column: the canonical one, or the interim one where an old column has that. */
    String now(String canonical) {
        Found exact = columns.get(canonical);
        return exact == null || exact.is(kind.canonical.column(canonical)) ? canonical : LegacyNames.interim(canonical);
    }

    /** The new columns that have no canonical name yet. */
    List<String> interims() {
        return kind.canonical.columns().stream()
                .map(Canonical.Column::name)
                .filter(column -> !now(column).equals(column))
                .toList();
    }

    /** The interim columns whose canonical ones are there too. */
    List<String> settled() {
        return kind.canonical.columns().stream()
                .map(Canonical.Column::name)
                .filter(column -> now(column).equals(column) && columns.containsKey(LegacyNames.interim(column)))
                .toList();
    }

    /** Whether phase 4 has to be preceded by {@link Phase#RENAMING}. */
    boolean needsSettling() {
        return !interims().isEmpty() || !settled().isEmpty();
    }

    /** Whether it is on its way back to phase 0, and its new columns are about to go. */
    boolean isLeaving() {
        return phase == Phase.LEGACY && columns.containsKey(LegacyNames.LEGACY_WRITE);
    }

    /** The columns that phase 1 added; what somebody else added since is not ours. */
    List<String> added() {
        List<String> names = List.copyOf(columns.keySet());
        int first = names.indexOf(LegacyNames.LEGACY_WRITE);
        return first < 0
                ? List.of()
                : names.subList(first, names.size()).stream()
                        .filter(name -> name.equals(LegacyNames.LEGACY_WRITE)
                                || kind.canonical.columns().stream()
                                        .anyMatch(column -> now(column.name()).equals(name)))
                        .toList();
    }

    /** The columns that are old and nothing else; interim ones, once they have settled. */
    List<String> oldColumns() {
        List<String> old = pairs.stream().map(Pair::old).collect(Collectors.toCollection(ArrayList::new));
        if (processed != null) {
            old.add(processed);
        }
        return old;
    }

    /** Shared columns that are as good as the canonical ones, and shall be the same in the end. */
    List<Canonical.Column> retyped() {
        return kind.canonical.columns().stream()
                .filter(column -> {
                    Found found = columns.get(column.name());
                    return found != null && found.is(column) && !found.type().equals(column.type());
                })
                .toList();
    }

    /** The table without its old columns, and with canonical ones beside the interim ones. */
    LegacyTable withRoom() {
        Map<String, Found> after = new LinkedHashMap<>(columns);
        oldColumns().forEach(after::remove);
        for (String column : interims()) {
            Canonical.Column canonical = kind.canonical.column(column);
            after.put(column, new Found(column, canonical.type(), false, canonical.bytewise(), false, false));
        }
        return map(name, kind, phase, since, after, primaryKey, indexes);
    }

    /** Whether the primary key is the canonical one already. */
    boolean keyIsCanonical() {
        return columns.values().stream()
                .filter(Found::keyed)
                .map(Found::name)
                .sorted()
                .toList()
                .equals(kind.canonical.primaryKey().stream()
                        .map(this::now)
                        .sorted()
                        .toList());
    }

    /** The old column for this new one; while names settle, that is the interim one. */
    private Optional<Found> old(String canonical, String now) {
        return names().like(kind.legacy.of(canonical), now)
                .or(() -> Optional.of(LegacyNames.interim(canonical))
                        .filter(interim -> phase != Phase.LEGACY && !interim.equals(now)))
                .map(columns::get);
    }

    private ColumnNames names() {
        return new ColumnNames(name.toString(), columns.keySet());
    }

    @Nullable
    Pair pair(String canonical) {
        return pairs.stream()
                .filter(pair -> pair.column().name().equals(canonical))
                .findFirst()
                .orElse(null);
    }

    /** The column that has a value in every row up to phase 3: the old one, or the one that is both. */
    String oldest(String canonical) {
        Pair pair = pair(canonical);
        return pair == null ? now(canonical) : pair.old();
    }

    /** The column that identifies a row in every phase up to 3: the old key, or the canonical one. */
    String rowKey() {
        Pair pair = pair(kind == Kind.OUTBOX ? "work_item_id" : "message_id");
        return pair != null ? pair.old() : kind == Kind.OUTBOX ? "work_item_id" : now("message_id");
    }

    /** A text of the canonical script, with the names that its columns have now. */
    String physical(String text) {
        String result = text;
        for (String column : interims()) {
            result = result.replaceAll("\\b" + column + "\\b", Matcher.quoteReplacement(Quoted.name(now(column))));
        }
        return result;
    }

    String quoted() {
        return Quoted.table(name);
    }

    /** Something of this table in the same schema, quoted. */
    String relation(String suffix) {
        return Quoted.table(new TableName(name.schema(), name.name() + suffix));
    }

    /** A constraint or index of this table, quoted. */
    String own(String suffix) {
        return Quoted.name(name.name() + suffix);
    }
}
