package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.sqlserver.SqlServerCatalog.Column;
import dev.outbox.sqlserver.SqlServerCatalog.Index;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
    private static SqlServerCatalog catalog(String table, String script) {
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
            indexes.add(
                    new Index(m.group(1), true, false, false, List.of(m.group(2).split(", ")), null));
        }
        for (Matcher m = INDEX.matcher(script); m.find(); ) {
            String filter =
                    m.group(4).replaceAll("(\\w+) (=|<) (\\d)", "[$1]$2($3)").replaceAll("(\\w+) IS", "[$1] IS");
            List<String> keys = List.of(m.group(3).split(", "));
            indexes.add(new Index(m.group(2), m.group(1) != null, false, true, keys, "(" + filter + ")"));
        }
        return new SqlServerCatalog(TableName.parse("dbo." + table), columns, indexes, false);
    }

    private static Column column(
            String name,
            String type,
            int length,
            boolean nullable,
            boolean hasDefault,
            @Nullable String fallback,
            boolean filled) {
        return new Column(name, type, length, null, nullable, false, hasDefault, fallback, filled);
    }

    private static int length(String type, String size) {
        if (size == null) {
            return 8;
        }
        return size.equals("max") ? -1 : Integer.parseInt(size) * (type.equals("nvarchar") ? 2 : 1);
    }

    private static SqlServerCatalog outbox() {
        return catalog("outbox", OutboxMigrations.render(Database.SQLSERVER, "dbo.outbox"));
    }

    private static SqlServerCatalog inbox() {
        return catalog("inbox", OutboxMigrations.renderInbox(Database.SQLSERVER, "dbo.inbox"));
    }

    private static SqlServerCatalog changed(String column, UnaryOperator<Column> change) {
        SqlServerCatalog table = outbox();
        List<Column> columns = table.columns().stream()
                .map(found -> found.name().equals(column) ? change.apply(found) : found)
                .toList();
        assertThat(columns).isNotEqualTo(table.columns());
        return new SqlServerCatalog(table.name(), columns, table.indexes(), false);
    }

    private static SqlServerCatalog changedIndex(SqlServerCatalog table, String suffix, UnaryOperator<Index> change) {
        List<Index> indexes = table.indexes().stream()
                .map(found -> found.name().endsWith(suffix) ? change.apply(found) : found)
                .toList();
        assertThat(indexes).isNotEqualTo(table.indexes());
        return new SqlServerCatalog(table.name(), table.columns(), indexes, false);
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
        SqlServerCatalog table = changed(
                column,
                found -> column(
                        column, type, length, found.nullable(), found.hasDefault(), found.fallback(), found.filled()));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [" + column + "] must be " + problem);
    }

    @ParameterizedTest
    @CsvSource({
        "Status, 'column [Status] must be tinyint NOT NULL, was tinyint NULL'",
        "DueOn,  'column [DueOn] must be datetime2 NULL, was datetime2 NOT NULL'"
    })
    void wrongNullabilityIsFound(String column, String problem) {
        SqlServerCatalog table = changed(
                column,
                found -> column(
                        column,
                        found.type(),
                        found.length(),
                        !found.nullable(),
                        found.hasDefault(),
                        found.fallback(),
                        true));

        assertThat(SqlServerSchema.problems(table, false)).containsExactly(problem);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "(0)", "(NEXT VALUE FOR [dbo].[orders_sequence])"})
    void rowsThatAnotherNumbersAreFound(String fallback) {
        SqlServerCatalog table = changed(
                "Sequence",
                found -> column(
                        found.name(), found.type(), found.length(), false, !fallback.equals("none"), fallback, true));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [Sequence] must have the default NEXT VALUE FOR [outbox_sequence], which"
                        + " numbers the rows");
    }

    @Test
    void whatALoginCannotSeeIsTakenForGood() {
        SqlServerCatalog table = changed(
                "Sequence", found -> column(found.name(), found.type(), found.length(), false, true, null, true));
        SqlServerCatalog unseen = changedIndex(
                table, "_Ready", found -> new Index(found.name(), found.unique(), false, true, found.keys(), null));

        assertThat(SqlServerSchema.problems(unseen, false)).isEmpty();
    }

    @Test
    void aServerThatShowsNoFiltersIsGoodEnough() {
        SqlServerCatalog table = outbox();
        List<Index> bare = table.indexes().stream()
                .map(found -> new Index(found.name(), found.unique(), false, false, found.keys(), null))
                .toList();

        assertThat(SqlServerSchema.problems(new SqlServerCatalog(table.name(), table.columns(), bare, false), false))
                .isEmpty();
    }

    @Test
    void aMissingDefaultIsFound() {
        SqlServerCatalog table = changed(
                "AttemptCount", found -> column(found.name(), found.type(), found.length(), false, false, null, false));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("column [AttemptCount] must have a default, because inserts leave it out");
    }

    @Test
    void aColumnThatNobodyFillsIsFound() {
        SqlServerCatalog table = outbox();
        List<Column> columns = new ArrayList<>(table.columns());
        columns.add(column("Region", "int", 4, false, false, null, false));
        columns.add(column("Version", "timestamp", 8, false, false, null, true));

        assertThat(SqlServerSchema.problems(new SqlServerCatalog(table.name(), columns, table.indexes(), false), false))
                .singleElement()
                .asString()
                .contains("column [Region] is none of the library's, must not be null and has no default");
    }

    @Test
    void anIndexThatIsDisabledIsFound() {
        SqlServerCatalog table = changedIndex(
                outbox(),
                "_KeyBlocked",
                found -> new Index(found.name(), found.unique(), true, true, found.keys(), found.filter()));

        assertThat(SqlServerSchema.problems(table, false))
                .containsExactly("index [outbox_KeyBlocked] is disabled: ALTER INDEX ... REBUILD");
    }

    @Test
    void anIndexCountsByWhatItServesAndNotByItsName() {
        SqlServerCatalog renamed = changedIndex(
                outbox(),
                "_Ready",
                found -> new Index(
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
        for (SqlServerCatalog table : List.of(outbox(), inbox())) {
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
                found -> new Index(found.name(), found.unique(), false, found.filtered(), List.of("Headers"), null),
                found -> new Index(found.name(), found.unique(), false, !found.filtered(), found.keys(), null),
                found -> found.filter() == null
                        ? new Index(found.name(), false, false, false, found.keys(), null)
                        : new Index(
                                found.name(),
                                found.unique(),
                                false,
                                true,
                                found.keys(),
                                found.filter() + " AND [A]=(0)"));
    }

    @Test
    void everyProblemIsNamedAtOnce() {
        SqlServerCatalog table = changed("Status", found -> column(found.name(), "bigint", 8, true, false, null, true));
        SqlServerCatalog bad = changedIndex(
                table, "_Leased", found -> new Index(found.name(), false, true, true, found.keys(), found.filter()));

        assertThat(SqlServerSchema.problems(bad, false))
                .containsExactly(
                        "column [Status] must be tinyint NOT NULL, was bigint NULL",
                        "column [Status] must have a default, because inserts leave it out",
                        "index [outbox_Leased] is disabled: ALTER INDEX ... REBUILD");
    }

    @Test
    void ofAnotherTableTheMissingColumnsAreNamedAndNotItsIndexes() {
        SqlServerCatalog orders = new SqlServerCatalog(
                TableName.parse("dbo.orders"),
                List.of(column("Id", "int", 4, false, false, null, true)),
                List.of(),
                false);

        assertThat(SqlServerSchema.problems(orders, false))
                .singleElement()
                .asString()
                .startsWith("it has no column sequence, work_item_id, ")
                .doesNotContain("index".toUpperCase(Locale.ROOT));
    }
}
