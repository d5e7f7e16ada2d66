package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.OutboxMigrations;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is found wrong with a table, without a server: the catalog is read off the canonical scripts, and spoilt. */
class SqlServerSchemaTest {
    private static final Pattern COLUMN = Pattern.compile(
            "^ {4}(\\w+) +(\\w+)(?:\\((\\d+|max)\\))? +(?:COLLATE \\w+ +)?(NOT NULL|NULL)"
                    + "(\\s+CONSTRAINT \\[\\w+] DEFAULT \\((.*)\\))?,$",
            Pattern.MULTILINE);
    private static final Pattern COMPUTED =
            Pattern.compile("^ {4}(\\w+) +AS .*nvarchar\\((\\d+)\\).*?(?: PERSISTED( NOT NULL))?,$", Pattern.MULTILINE);
    private static final Pattern KEY =
            Pattern.compile("CONSTRAINT \\[(\\w+)] (?:PRIMARY KEY|UNIQUE) (?:NON)?CLUSTERED \\(([^)]+)\\)");
    private static final Pattern INDEX = Pattern.compile(
            "CREATE (UNIQUE )?INDEX \\[(\\w+)] ON \\S+ \\(([^)]+)\\)(?: INCLUDE \\([^)]+\\))?\\s+WHERE (.+?) WITH");

    /** As the catalog of a server would tell of the table that this script makes. */
    private static FoundTable catalog(String table, String script) {
        List<Column> columns = new ArrayList<>();
        for (Matcher m = COLUMN.matcher(script); m.find(); ) {
            boolean nullable = m.group(4).equals("NULL");
            boolean hasDefault = m.group(5) != null;
            int length = length(m.group(2), m.group(3));
            columns.add(
                    column(m.group(1), m.group(2), length, nullable, hasDefault, m.group(6), nullable || hasDefault));
        }
        for (Matcher m = COMPUTED.matcher(script); m.find(); ) {
            int length = length("nvarchar", m.group(2));
            columns.add(column(m.group(1), "nvarchar", length, m.group(3) == null, false, null, true));
        }
        List<Index> indexes = new ArrayList<>();
        for (Matcher m = KEY.matcher(script); m.find(); ) {
            indexes.add(index(m.group(1), true, false, false, List.of(m.group(2).split(", ")), null));
        }
        for (Matcher m = INDEX.matcher(script); m.find(); ) {
            String filter =
                    m.group(4).replaceAll("(\\w+) (=|<) (\\d)", "[$1]$2($3)").replaceAll("(\\w+) IS", "[$1] IS");
            List<String> keys = List.of(m.group(3).split(", "));
            indexes.add(index(m.group(2), m.group(1) != null, false, true, keys, "(" + filter + ")"));
        }
        return table(TableName.parse("dbo." + table), columns, indexes);
    }

    private static Column column(
            String name,
            String type,
            int length,
            boolean nullable,
            boolean hasDefault,
            @Nullable String fallback,
            boolean filled) {
        return SqlServerCatalogs.column(name, type, length, null, nullable, false, hasDefault, fallback, filled);
    }

    private static Index index(
            String name,
            boolean unique,
            boolean disabled,
            boolean filtered,
            List<String> keys,
            @Nullable String filter) {
        return new Index(
                name, false, false, unique, false, !disabled, filtered, filter == null ? "" : filter, keys, keys);
    }

    private static FoundTable table(TableName name, Collection<Column> columns, Collection<Index> indexes) {
        return new FoundTable(
                name,
                TableKind.OUTBOX,
                Phase.CLEAN,
                false,
                Optional.empty(),
                Optional.empty(),
                byName(columns, Column::name),
                byName(indexes, Index::name));
    }

    private static <T> Map<String, T> byName(Collection<T> all, Function<T, String> name) {
        Map<String, T> named = new LinkedHashMap<>();
        all.forEach(one -> named.put(name.apply(one), one));
        return named;
    }

    /** In bytes; -1 for max. */
    private static int length(Column column) {
        int bytes = column.type().startsWith("n") ? 2 : 1;
        return column.characters() == Column.UNLIMITED ? -1 : column.characters() * bytes;
    }

    private static int length(String type, String size) {
        if (size == null) {
            return 8;
        }
        return size.equals("max") ? -1 : Integer.parseInt(size) * (type.equals("nvarchar") ? 2 : 1);
    }

    private static FoundTable outbox() {
        return catalog("outbox", OutboxMigrations.render(Database.SQLSERVER, "dbo.outbox"));
    }

    private static FoundTable inbox() {
        return catalog("inbox", OutboxMigrations.renderInbox(Database.SQLSERVER, "dbo.inbox"));
    }

    private static FoundTable changed(String column, UnaryOperator<Column> change) {
        FoundTable table = outbox();
        List<Column> columns = table.columns().values().stream()
                .map(found -> found.name().equals(column) ? change.apply(found) : found)
                .toList();
        assertThat(columns).isNotEqualTo(List.copyOf(table.columns().values()));
        return table(table.name(), columns, table.indexes().values());
    }

    private static FoundTable changedIndex(FoundTable table, String suffix, UnaryOperator<Index> change) {
        List<Index> indexes = table.indexes().values().stream()
                .map(found -> found.name().endsWith(suffix) ? change.apply(found) : found)
                .toList();
        assertThat(indexes).isNotEqualTo(List.copyOf(table.indexes().values()));
        return table(table.name(), table.columns().values(), indexes);
    }

    @Test
    void theCanonicalTablesAreFlawless() {
        assertThat(outbox().columns()).hasSize(24);
        assertThat(outbox().indexes()).hasSize(10);
        assertThat(inbox().columns()).hasSize(32);
        assertThat(inbox().indexes()).hasSize(11);
        assertThat(SqlServerSchema.problems(outbox(), false)).isEmpty();
        assertThat(SqlServerSchema.problems(inbox(), true)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "Topic,      varchar,          255, 'nvarchar(255) NOT NULL, was varchar(255) NOT NULL'",
        "MessageKey, nvarchar,         200, 'nvarchar(255) NULL, was nvarchar(100) NULL'",
        "Payload,    nvarchar,         510, 'nvarchar(max) NULL, was nvarchar(255) NULL'",
        "Sequence,   int,              4,   'bigint NOT NULL, was int NOT NULL'",
        "WorkItemId, nvarchar,         72,  'uniqueidentifier NOT NULL, was nvarchar(36) NOT NULL'",
        "DueOn,      datetime,         8,   'datetime2 NULL, was datetime NULL'"
    })
    void aWrongTypeIsFound(String column, String type, int length, String problem) {
        FoundTable table = changed(
                column,
                found -> column(
                        column,
                        type,
                        length,
                        found.nullable(),
                        found.hasDefault(),
                        found.defaultText(),
                        found.filled()));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [" + column + "] must be " + problem);
    }

    @ParameterizedTest
    @CsvSource({
        "Status, 'column [Status] must be tinyint NOT NULL, was tinyint NULL'",
        "DueOn,  'column [DueOn] must be datetime2 NULL, was datetime2 NOT NULL'"
    })
    void wrongNullabilityIsFound(String column, String problem) {
        FoundTable table = changed(
                column,
                found -> column(
                        column,
                        found.type(),
                        length(found),
                        !found.nullable(),
                        found.hasDefault(),
                        found.defaultText(),
                        true));

        assertThat(SqlServerSchema.problems(table, false)).containsExactly(problem);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "(0)", "(NEXT VALUE FOR [dbo].[orders_sequence])"})
    void rowsThatAnotherNumbersAreFound(String fallback) {
        FoundTable table = changed(
                "Sequence",
                found -> column(
                        found.name(), found.type(), length(found), false, !fallback.equals("none"), fallback, true));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [Sequence] must have the default NEXT VALUE FOR [outbox_sequence], which"
                        + " numbers the rows");
    }

    @Test
    void whatALoginCannotSeeIsTakenForGood() {
        FoundTable table = changed(
                "Sequence", found -> column(found.name(), found.type(), length(found), false, true, null, true));
        FoundTable unseen = changedIndex(
                table, "_Ready", found -> index(found.name(), found.unique(), false, true, found.keys(), null));

        assertThat(SqlServerSchema.problems(unseen, false)).isEmpty();
    }

    @Test
    void aServerThatShowsNoFiltersIsGoodEnough() {
        FoundTable table = outbox();
        List<Index> bare = table.indexes().values().stream()
                .map(found -> index(found.name(), found.unique(), false, false, found.keys(), null))
                .toList();

        assertThat(SqlServerSchema.problems(table(table.name(), table.columns().values(), bare), false))
                .isEmpty();
    }

    @Test
    void aMissingDefaultIsFound() {
        FoundTable table = changed(
                "AttemptCount", found -> column(found.name(), found.type(), length(found), false, false, null, false));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [AttemptCount] must have a default, because inserts leave it out");
    }

    @Test
    void aColumnThatNobodyFillsIsFound() {
        FoundTable table = outbox();
        List<Column> columns = new ArrayList<>(table.columns().values());
        columns.add(column("Region", "int", 4, false, false, null, false));
        columns.add(column("Version", "timestamp", 8, false, false, null, true));

        assertThat(SqlServerSchema.problems(
                        table(table.name(), columns, table.indexes().values()), false))
                .singleElement()
                .asString()
                .contains("column [Region] does not belong to the library, is NOT NULL and has no default");
    }

    @Test
    void anIndexThatIsDisabledIsFound() {
        FoundTable table = changedIndex(
                outbox(),
                "_KeyBlocked",
                found -> index(found.name(), found.unique(), true, true, found.keys(), found.filter()));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("index [outbox_KeyBlocked] is disabled: ALTER INDEX ... REBUILD");
    }

    @Test
    void anIndexCountsByWhatItServesAndNotByItsName() {
        FoundTable renamed = changedIndex(
                outbox(),
                "_Ready",
                found -> index(
                        "mine",
                        false,
                        false,
                        true,
                        List.of("priority", "due_on", "SEQUENCE", "Topic"),
                        "([MessageKey] IS NULL AND [Status]=(0))"));

        assertThat(SqlServerSchema.problems(renamed, false)).isEmpty();
    }

    @Test
    void everyIndexIsMissedWhenItServesSomethingElse() {
        for (FoundTable table : List.of(outbox(), inbox())) {
            boolean inbox = table.name().name().equals("inbox");
            for (SqlServerSchema.Need need : SqlServerSchema.needs(inbox)) {
                String suffix = table.name().name() + need.suffix();
                String problem = "it has no " + need;
                for (UnaryOperator<Index> spoil : spoilt()) {
                    assertThat(SqlServerSchema.problems(changedIndex(table, suffix, spoil), inbox))
                            .containsExactly(problem);
                }
            }
        }
    }

    private static List<UnaryOperator<Index>> spoilt() {
        return List.of(
                found -> index(found.name(), found.unique(), false, found.filtered(), List.of("Headers"), null),
                found -> index(found.name(), found.unique(), false, !found.filtered(), found.keys(), null),
                found -> found.filter().isEmpty()
                        ? index(found.name(), false, false, false, found.keys(), null)
                        : index(
                                found.name(),
                                found.unique(),
                                false,
                                true,
                                found.keys(),
                                found.filter() + " AND [A]=(0)"));
    }

    @Test
    void everyProblemIsNamedAtOnce() {
        FoundTable table = changed("Status", found -> column(found.name(), "bigint", 8, true, false, null, true));
        FoundTable bad = changedIndex(
                table, "_Leased", found -> index(found.name(), false, true, true, found.keys(), found.filter()));

        assertThat(SqlServerSchema.problems(bad, false))
                .containsExactly(
                        "column [Status] must be tinyint NOT NULL, was bigint NULL",
                        "column [Status] must have a default, because inserts leave it out",
                        "index [outbox_Leased] is disabled: ALTER INDEX ... REBUILD");
    }

    @Test
    void ofAnotherTableTheMissingColumnsAreNamedAndNotItsIndexes() {
        FoundTable orders = table(
                TableName.parse("dbo.orders"), List.of(column("Id", "int", 4, false, false, null, true)), List.of());

        assertThat(SqlServerSchema.problems(orders, false))
                .singleElement()
                .asString()
                .startsWith("it has no column sequence, work_item_id, ")
                .doesNotContain("index".toUpperCase(Locale.ROOT));
    }
}
