package dev.outbox.migrations.internal.postgres;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A table on its way from the legacy layout to the canonical one, as it was found in the catalog: which of its columns are
 * old, and which new column stands or will stand for each.
 *
 * <p>A column that has the canonical name and type from the start is shared: it is old and new at once. Every other
 * canonical column is added under its name or, where an old column of another type has that, under an interim one.
 *
 * @param found as the catalog describes it
 * @param columns by name
 * @param pairs old columns with the new ones that replace them
 * @param processed the old column that says Done a second time ({@code IsProcessed}), or null
 */
record LegacyTable(
        FoundTable found,
        Map<String, Column> columns,
        List<Pair> pairs,
        @Nullable String processed) {
    static LegacyTable of(FoundTable found) {
        return of(found, found.columns());
    }

    private static LegacyTable of(FoundTable found, Map<String, Column> columns) {
        LegacyTable table = new LegacyTable(found, columns, List.of(), null);
        List<Pair> pairs = new ArrayList<>();
        for (Canonical.Column column : table.canonical().columns()) {
            String now = table.now(column.name());
            table.old(column.name(), now)
                    .ifPresent(old -> pairs.add(new Pair(column, old.name(), old.definition(), now)));
        }
        String processed = found.kind() == TableKind.OUTBOX
                ? table.names().like(LegacyNames.IS_PROCESSED, null).orElse(null)
                : null;
        return new LegacyTable(found, columns, pairs, processed);
    }

    /** With its schema. */
    TableName name() {
        return found.name();
    }

    TableKind kind() {
        return found.kind();
    }

    Phase phase() {
        return found.phase();
    }

    Canonical canonical() {
        return Canonical.of(kind());
    }

    /** By name. */
    Map<String, Index> indexes() {
        return found.indexes();
    }

    /** The name of the primary key, which its index has too; null if there is none. */
    @Nullable
    String primaryKey() {
        return indexes().values().stream()
                .filter(Index::primaryKey)
                .map(Index::name)
                .findFirst()
                .orElse(null);
    }

    /** The name of the new column: the canonical one, or the interim one where an old column has that. */
    String now(String canonical) {
        Column exact = columns.get(canonical);
        return exact == null || canonical().column(canonical).isLike(exact)
                ? canonical
                : LegacyNames.interim(canonical);
    }

    /** The new columns that have no canonical name yet. */
    List<String> interims() {
        return canonical().columns().stream()
                .map(Canonical.Column::name)
                .filter(column -> !now(column).equals(column))
                .toList();
    }

    /** The canonical columns that stand beside the interim ones they replace. */
    List<String> replacing() {
        return canonical().columns().stream()
                .map(Canonical.Column::name)
                .filter(column -> now(column).equals(column) && columns.containsKey(LegacyNames.interim(column)))
                .toList();
    }

    /** Whether phase 4 has to be preceded by {@link Phase#RENAMING}. */
    boolean needsRenaming() {
        return !interims().isEmpty() || !replacing().isEmpty();
    }

    /** The comment still says phase 3, but the old columns are gone. */
    void refuseIfRenaming(Phase phase) {
        if (phase() == Phase.FLIPPED && !replacing().isEmpty()) {
            throw new OutboxException("table \"" + name() + "\" has begun its renaming and cannot go to " + phase
                    + ", because its old columns are gone; its next is " + Phase.RENAMING);
        }
    }

    /** Whether it is on its way back to phase 0, and its new columns are about to go. */
    boolean isLeaving() {
        return phase() == Phase.LEGACY && columns.containsKey(LegacyNames.LEGACY_WRITE);
    }

    /** The columns that phase 1 added, without those that the application has added since. */
    List<String> added() {
        List<String> names = List.copyOf(columns.keySet());
        int first = names.indexOf(LegacyNames.LEGACY_WRITE);
        return first < 0
                ? List.of()
                : names.subList(first, names.size()).stream()
                        .filter(name -> name.equals(LegacyNames.LEGACY_WRITE)
                                || canonical().columns().stream()
                                        .anyMatch(column -> now(column.name()).equals(name)))
                        .toList();
    }

    /** The columns that are old and nothing else; interim ones, once they have replacing. */
    List<String> oldColumns() {
        List<String> old = pairs.stream().map(Pair::old).collect(Collectors.toCollection(ArrayList::new));
        if (processed != null) {
            old.add(processed);
        }
        return old;
    }

    /** Shared columns that are as good as the canonical ones, and shall be the same in the end. */
    List<Canonical.Column> retyped() {
        return canonical().columns().stream()
                .filter(column -> {
                    Column exact = columns.get(column.name());
                    return exact != null
                            && column.isLike(exact)
                            && !exact.definition().equals(column.type());
                })
                .toList();
    }

    /** The table without its old columns, and with canonical ones beside the interim ones. */
    LegacyTable withRoom() {
        Map<String, Column> after = new LinkedHashMap<>(columns);
        oldColumns().forEach(after::remove);
        interims()
                .forEach(column -> after.put(column, canonical().column(column).added()));
        return of(found, after);
    }

    /** Whether the primary key is the canonical one already. */
    boolean keyIsCanonical() {
        return columns.values().stream()
                .filter(Column::keyed)
                .map(Column::name)
                .sorted()
                .toList()
                .equals(canonical().primaryKey().stream()
                        .map(this::now)
                        .sorted()
                        .toList());
    }

    /** The old column for this new one; during the renaming, that is the interim one. */
    private Optional<Column> old(String canonical, String now) {
        return names().like(LegacyNames.forTable(kind()).of(canonical), now)
                .or(() -> Optional.of(LegacyNames.interim(canonical))
                        .filter(interim -> phase() != Phase.LEGACY && !interim.equals(now)))
                .map(columns::get);
    }

    private ColumnNames names() {
        return new ColumnNames(name().toString(), columns.keySet());
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
        Pair pair = pair(kind() == TableKind.OUTBOX ? "work_item_id" : "message_id");
        return pair != null ? pair.old() : kind() == TableKind.OUTBOX ? "work_item_id" : now("message_id");
    }

    /** A text of the canonical script, with the names that its columns have now. */
    String physical(String text) {
        String result = text;
        for (String column : interims()) {
            result = result.replaceAll("\\b" + column + "\\b", Matcher.quoteReplacement(Quoted.postgres(now(column))));
        }
        return result;
    }

    String quoted() {
        return Quoted.postgres(name());
    }

    /** Something of this table in the same schema, quoted. */
    String relation(String suffix) {
        return Quoted.postgres(new TableName(name().schema(), name().name() + suffix));
    }

    /** A constraint or index of this table, quoted. */
    String own(String suffix) {
        return Quoted.postgres(name().name() + suffix);
    }
}
