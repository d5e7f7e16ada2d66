package dev.outbox.migrations.internal.sqlserver;

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
import dev.outbox.migrations.internal.Literal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A table on its way from the legacy layout to the canonical one, as it was found in the catalog.
 *
 * <p>A column that only changes its name is stored once, and its other name is a computed alias: in phases 1 and 2 the new
 * one, in phase 3 the old one. A column that changes its type has an interim one beside it from phase 1 to 3.
 *
 * @param found as the catalog describes it
 * @param indexes by name
 * @param checks the conditions of its check constraints, by their names
 * @param consumer whose the rows of a legacy inbox are; null for an outbox
 * @param online whether the edition builds indexes while others work
 */
record LegacyTable(
        FoundTable found,
        Map<String, Index> indexes,
        Map<String, String> checks,
        @Nullable String consumer,
        boolean online) {
    /** Tells by an index which rows of an inbox say one thing in old columns and another in new ones, until the flip. */
    static final String DIFFERS = "Differs";

    /** The columns of an inbox whose type changes. */
    private static final List<String> CHANGED = List.of("status", "message_id", "source");

    /** The old and the new name of one column. */
    record Renamed(String old, String now) {}

    private static final String CHECKS = """
            SELECT k.name, k.definition FROM sys.check_constraints k
            WHERE k.parent_object_id = OBJECT_ID(?)
            """;

    /** Enterprise and Developer, Azure SQL Database and Managed Instance. */
    private static final String ONLINE = """
            SELECT CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8) THEN 1 ELSE 0 END AS online
            """;

    /** @param consumer whose the rows of a legacy inbox are; null for an outbox */
    static LegacyTable of(Connection connection, FoundTable found, @Nullable String consumer) throws SQLException {
        String owner = found.consumer().orElse(consumer);
        if (owner != null && !owner.equals(consumer)) {
            throw new OutboxException("table \"" + found.name() + "\" belongs to consumer " + owner + ", not to "
                    + consumer + "; name that one until it is in " + Phase.CLEAN);
        }
        Map<String, Index> indexes = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        indexes.putAll(found.indexes());
        return new LegacyTable(found, indexes, checks(connection, found.name()), consumer, online(connection));
    }

    private static Map<String, String> checks(Connection connection, TableName name) throws SQLException {
        Map<String, String> checks = new TreeMap<>();
        try (PreparedStatement statement = connection.prepareStatement(CHECKS)) {
            statement.setNString(1, Quoted.sqlServer(name));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    checks.put(row.getString("name"), String.valueOf(row.getString("definition")));
                }
            }
        }
        return checks;
    }

    private static boolean online(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ONLINE);
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getInt("online") == 1;
        }
    }

    /** With its schema. */
    TableName name() {
        return found.name();
    }

    Phase phase() {
        return found.phase();
    }

    boolean inbox() {
        return found.kind() == TableKind.INBOX;
    }

    /** The names of its columns in a legacy layout. */
    LegacyNames legacyNames() {
        return LegacyNames.forTable(found.kind());
    }

    Canonical canonical() {
        return Canonical.of(found.kind());
    }

    /** A column by its canonical name, in whatever spelling it is stored, or by an old one. */
    Optional<Column> stored(String logical) {
        return like(false, legacyNames().of(logical));
    }

    /** The column that is there in the end, under whatever name it has now. */
    Optional<Column> now(String logical) {
        return interim(logical).or(() -> stored(logical));
    }

    /** The column of the final type, where an old one of another type has the name. */
    Optional<Column> interim(String logical) {
        return like(false, List.of(LegacyNames.interim(logical)));
    }

    Optional<Column> processed() {
        return like(false, LegacyNames.IS_PROCESSED);
    }

    Optional<Column> libraryToken() {
        return like(false, List.of(LegacyNames.LIBRARY_TOKEN));
    }

    /** Whether the old column is of another type than the new one, so that both are there from phase 1 to 3. */
    boolean changes(String logical) {
        if (interim(logical).isPresent()) {
            return true;
        }
        return inbox()
                ? CHANGED.contains(logical) && phase().before(Phase.FLIPPED)
                : logical.equals("message_id")
                        && stored(logical).map(column -> !isText(column)).orElse(false);
    }

    /** The canonical names that have a column of the old and one of the new type now. */
    List<String> interims() {
        return CHANGED.stream()
                .filter(logical ->
                        interim(logical).isPresent() && stored(logical).isPresent())
                .toList();
    }

    /** The columns that are filled in every row from phase 2 on, and that no old application writes. */
    List<String> filled() {
        List<String> filled = new ArrayList<>(List.of("sequence", "priority", "blocks_key"));
        if (inbox()) {
            filled.addAll(List.of("work_item_id", "receipt_count", "consumer", "created_on"));
            filled.addAll(CHANGED);
        }
        return filled;
    }

    /** The columns that some legacy outboxes have; where they exist, they belong to the application. */
    List<String> shared() {
        return inbox() ? List.of() : List.of("processed_by", "correlation_id");
    }

    /** The name of a new column while an old one of another type has its canonical name. */
    static String interimName(Canonical.Column column) {
        return column.logical().equals("status") ? "StatusCode" : column.name() + "New";
    }

    private Optional<Column> like(boolean computed, Collection<String> wanted) {
        Map<String, Column> some = found.columns().values().stream()
                .filter(column -> column.computed() == computed)
                .collect(Collectors.toMap(Column::name, column -> column));
        return new ColumnNames(name().toString(), some.keySet())
                .like(wanted, null)
                .map(some::get);
    }

    /** The columns that have another name in the end than they have, or had. */
    List<Renamed> renamed() {
        List<Renamed> renamed = new ArrayList<>();
        for (Canonical.Column column : canonical().columns()) {
            if (changes(column.logical())) {
                continue;
            }
            Optional<Column> old = phase().before(Phase.FLIPPED)
                    ? stored(column.logical())
                    : like(true, legacyNames().of(column.logical()));
            old.map(Column::name)
                    .filter(name -> !name.equalsIgnoreCase(column.name()))
                    .ifPresent(name -> renamed.add(new Renamed(name, column.name())));
        }
        return renamed;
    }

    /** The aliases that are there now: new names before phase 3, and old ones in it. Other computed columns are not ours. */
    List<String> aliases() {
        return renamed().stream()
                .map(phase().before(Phase.FLIPPED) ? Renamed::now : Renamed::old)
                .filter(this::has)
                .toList();
    }

    boolean has(String column) {
        return found.columns().keySet().stream().anyMatch(column::equalsIgnoreCase);
    }

    static boolean isText(Column column) {
        return column.type().equals("nvarchar");
    }

    /** Its type and its collation, which may be another one than the database's. */
    static String collated(Column column) {
        return collated(column, column.definition());
    }

    /** Another type with its collation. */
    static String collated(Column column, String type) {
        return type + (column.collation() == null ? "" : " COLLATE " + column.collation());
    }

    String quoted() {
        return Quoted.sqlServer(name());
    }

    /** The quoted name as a text of a statement. */
    String text() {
        return Literal.national(quoted());
    }

    /** Something of this table in the same schema, quoted. */
    String relation(String suffix) {
        return Quoted.sqlServer(new TableName(name().schema(), name().name() + suffix));
    }

    /** A constraint or index of this table, quoted. */
    String own(String suffix) {
        return Quoted.sqlServer(name().name() + suffix);
    }
}
