package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Role;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every statement of this module, and of the admin's for SQL Server, is T-SQL, found out without a server. */
class TsqlTest {
    private static final Pattern SEARCH =
            Pattern.compile("\\{(by_[a-z_]+)}[^;]*?\\bWHERE ([^;]*?)(?:ORDER BY|;|\\)\n)");

    /** What stands for a condition that a table on its way says otherwise. */
    private static final Map<String, String> CONDITIONS = Map.of(
            "has_topic", "{topic} IS NOT NULL",
            "blocks_nothing", "{blocks_key} = 0",
            "ready", "{status} = 0",
            "processing", "{status} = 1",
            "done", "{status} = 2",
            "dead", "{status} = 3");

    /** Where else statements for SQL Server are. */
    private static final List<String> ELSEWHERE = List.of(
            "dev.outbox.admin.internal.sqlserver.SqlServerChecks",
            "dev.outbox.admin.internal.sqlserver.SqlServerDeadLetters",
            "dev.outbox.admin.internal.sqlserver.SqlServerLookup",
            "dev.outbox.admin.internal.sqlserver.SqlServerPurge",
            "dev.outbox.admin.internal.sqlserver.SqlServerStatus",
            "dev.outbox.jdbc.internal.catalog.SqlServerCatalog",
            "dev.outbox.jdbc.internal.sqlserver.SqlServerPurgeBatches");

    private static List<Class<?>> elsewhere() {
        return ELSEWHERE.stream().<Class<?>>map(TsqlTest::loaded).toList();
    }

    /** Every class of this module, so that none is forgotten. */
    private static List<Class<?>> ours() {
        try (Stream<Path> files = Files.list(Path.of(SqlServerTable.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve("dev/outbox/sqlserver"))) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".class") && name.startsWith("SqlServer"))
                    .sorted()
                    .<Class<?>>map(name -> loaded("dev.outbox.sqlserver." + name.replace(".class", "")))
                    .toList();
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Class<?> loaded(String name) {
        try {
            return Class.forName(name, false, TsqlTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Columns as the canonical inbox has them, which has all there are. */
    static Layout layout() {
        Map<String, String> columns = new HashMap<>();
        for (String column : SqlServerTable.logicalColumns()) {
            columns.put(column, "[" + column.replace("_", "") + "]");
            columns.put("out_" + column, "inserted.[" + column.replace("_", "") + "]");
        }
        SqlServerTable.INDEXES.forEach((logical, suffix) -> columns.put(logical, "INDEX([inbox" + suffix + "]), "));
        columns.put("mine", "[consumer] = :consumer");
        columns.put("next_sequence", "NEXT VALUE FOR \"dbo\".\"inbox_sequence\"");
        columns.put("place", "[sequence]");
        columns.put("claim_order", "[sequence]");
        columns.put("no_row", "[sequence] = 0");
        columns.put("as_message_id", "LOWER(c.message_id)");
        columns.put("out_old_message_id", "inserted.[oldmessageid]");
        columns.put("unprocessed", "");
        CONDITIONS.forEach((logical, condition) -> columns.put(logical, condition.replaceAll("\\{(\\w+)}", "[$1]")));
        columns.putAll(SqlServerIdentity.exact("[exactsource]", "[exactmessageid]"));
        columns.put("patience", "10000");
        columns.put("by", "[correlationid]");
        columns.put("audit", "[dbo].[outbox_audit]");
        columns.put("pollers", "[dbo].[outbox_pollers]");
        columns.put("same_consumer", "t.[consumer] = heads.consumer");
        Map<String, Reading> readings = new HashMap<>(SqlServerItems.named(Optional.empty()));
        columns.forEach((logical, text) -> readings.put(logical, Reading.column(text)));
        return new Layout("[dbo].[inbox]", readings, Map.of(), Map.of());
    }

    /** Every constant of this module that is a whole statement or batch: those that tests may see. */
    static Map<String, String> statements() {
        return statements(ours());
    }

    private static Map<String, String> statements(List<Class<?>> holders) {
        Map<String, String> statements = new TreeMap<>();
        for (Class<?> holder : holders) {
            for (Field field : holder.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())
                        && !Modifier.isPrivate(field.getModifiers())
                        && field.getType() == String.class) {
                    field.setAccessible(true);
                    statements.put(holder.getName() + "." + field.getName(), text(field));
                }
            }
            statements.putAll(givenByMethods(holder));
        }
        statements.values().removeIf(text -> !text.contains(" ")); // the name of a property
        return statements;
    }

    /** The admin gives each statement by a method of its own. */
    private static Map<String, String> givenByMethods(Class<?> holder) {
        Map<String, String> statements = new TreeMap<>();
        if (!holder.getName().startsWith("dev.outbox.admin.")
                || holder.getSimpleName().endsWith("Checks")) {
            return statements;
        }
        try {
            Constructor<?> constructor = holder.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object given = constructor.newInstance();
            for (Method method : holder.getDeclaredMethods()) {
                if (method.getReturnType() == String.class) {
                    method.setAccessible(true);
                    statements.put(holder.getName() + "." + method.getName(), (String) method.invoke(given));
                }
            }
            return statements;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String text(Field field) {
        try {
            return (String) field.get(null);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    static String resolved(String statement) {
        String text = layout().resolve(statement).text().strip();
        return text.endsWith(";") ? text : text + ";";
    }

    static Stream<Arguments> everyStatement() {
        Map<String, String> all = new TreeMap<>(statements(elsewhere()));
        all.putAll(statements());
        return all.entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void everyStatement(String name, String statement) {
        Tsql.parse(resolved(statement));
    }

    @Test
    void noStatementIsForgotten() {
        assertThat(statements()).hasSizeGreaterThanOrEqualTo(25);
        assertThat(statements(elsewhere()).keySet().stream()
                        .map(name -> name.substring(0, name.lastIndexOf('.')))
                        .distinct())
                .hasSameSizeAs(ELSEWHERE);
    }

    /** Where a statement names a filtered index, the filter's literals are in its condition, or it would be error 8622. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("everyStatement")
    void aNamedIndexIsGoodForItsSearch(String name, String statement) {
        Matcher search = SEARCH.matcher(statement);
        while (search.find()) {
            String suffix = SqlServerTable.INDEXES.get(search.group(1));
            String condition = search.group(2).replaceAll("\\b\\w\\.", "");
            for (Map.Entry<String, String> other : CONDITIONS.entrySet()) {
                condition = condition.replace("{" + other.getKey() + "}", other.getValue());
            }
            SqlServerSchema.Need index = SqlServerSchema.needs(false).stream()
                    .filter(need -> need.suffix().equals(suffix))
                    .findFirst()
                    .orElseThrow();
            for (String term : index.filter().split(" AND ")) {
                assertThat(condition).contains(term.replaceFirst("^\\w+", "{$0}"));
            }
        }
        assertThat(statement.split("\\{by_[a-z_]+}", -1))
                .as("searches that name an index, all of them looked at")
                .hasSize(1 + (int) SEARCH.matcher(statement).results().count());
    }

    /** A table with triggers refuses an OUTPUT that goes nowhere (334). */
    @ParameterizedTest(name = "{0}")
    @MethodSource("everyStatement")
    void whatAStatementPutsOutGoesIntoAVariable(String name, String statement) {
        Pattern.compile("\\bOUTPUT\\b(.*?)\\b(FROM|WHERE)\\b", Pattern.DOTALL)
                .matcher(statement)
                .results()
                .forEach(output -> assertThat(output.group(1)).contains("INTO @"));
    }

    /** READPAST passes by rows, not by pages; and no batch locks the table. */
    @Test
    void noSearchLocksPagesAndNoBatchTheTable() {
        for (String script : List.of(
                OutboxMigrations.render(Database.SQLSERVER, "outbox"),
                OutboxMigrations.renderInbox(Database.SQLSERVER, "inbox"))) {
            assertThat(script).contains("SET (LOCK_ESCALATION = DISABLE);");
            assertThat(Pattern.compile("(CREATE (UNIQUE )?INDEX|UNIQUE CLUSTERED)[^;]*?(;|,\n)")
                            .matcher(script)
                            .results())
                    .hasSizeGreaterThan(8)
                    .allSatisfy(index -> assertThat(index.group()).contains("ALLOW_PAGE_LOCKS = OFF"));
        }
    }

    @Test
    void everyScript() {
        Tsql.parse(OutboxMigrations.render(Database.SQLSERVER, "billing.outbox"));
        Tsql.parse(OutboxMigrations.renderInbox(Database.SQLSERVER, "inbox"));
        Tsql.parse(OutboxMigrations.renderAdmin(Database.SQLSERVER, "billing"));
        Tsql.parse(OutboxMigrations.renderLookup(Database.SQLSERVER, "billing.outbox"));
    }

    /** What it may see or change is a column of the canonical tables. */
    @ParameterizedTest
    @EnumSource
    void theGrantsOfARole(Role role) {
        String grants = role.grants(Database.SQLSERVER, "shop", "billing", "shop_outbox", "shop_inbox");

        Tsql.parse(grants);
        assertThat(grants).doesNotContain("${");
        Pattern.compile("ON \\[billing]\\.\\[shop_(outbox|inbox)] \\(([^)]*)\\)")
                .matcher(grants)
                .results()
                .forEach(columns -> {
                    String script = columns.group(1).equals("outbox")
                            ? OutboxMigrations.render(Database.SQLSERVER, "shop_outbox")
                            : OutboxMigrations.renderInbox(Database.SQLSERVER, "shop_inbox");
                    for (String column : columns.group(2).split(",")) {
                        assertThat(script).containsPattern("\n    " + column.strip() + " ");
                    }
                });
    }

    /** The viewer sees every column but the payload. */
    @Test
    void theViewerSeesAllButThePayload() {
        String grants = Role.VIEWER.grants(Database.SQLSERVER, "shop", "billing", "shop_outbox", "shop_inbox");
        Set<String> seen = Pattern.compile("\\w+")
                .matcher(grants.replaceAll("(?m)^--.*$", ""))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());

        for (String script : List.of(
                OutboxMigrations.render(Database.SQLSERVER, "shop_outbox"),
                OutboxMigrations.renderInbox(Database.SQLSERVER, "shop_inbox"))) {
            Pattern.compile(
                            "\n    ([A-Z]\\w+) +(?:bigint|uniqueidentifier|datetime2|int|smallint|bit|nvarchar|varbinary|AS)")
                    .matcher(script)
                    .results()
                    .map(column -> column.group(1))
                    .forEach(column ->
                            assertThat(seen.contains(column)).as(column).isEqualTo(!column.startsWith("Payload")));
        }
    }

    @Test
    void theSearchForExpiredLeasesReadsNoPayloads() {
        assertThat(SqlServerSourceStatements.EXPIRE).doesNotContain("payload", "headers");
    }

    /** What the test is for: each of these slips is found. */
    @ParameterizedTest
    @CsvSource({
        "UPDATE {table} WITH, UPDTE {table} WITH",
        "ORDER BY {sequence}, ORDER {sequence}",
        "FROM (, FORM (",
        "'WHERE {sequence} = taken.place', 'WERE {sequence} = taken.place'",
        "'ROWS UNBOUNDED PRECEDING', 'ROWS UNBOUNDED'",
        "'COALESCE(@end,', 'COALESCE(@end),'",
        "'THEN 1 ELSE 0 END)', 'THEN 1 ELSE 0 END'",
        "'THEN 1 ELSE 0 END)', 'THEN 1 ELSE 0)'",
        "READPAST, READPASS",
        "'SELECT @left = @count -', 'SELECT @left = @count - ,'",
        "'END;', ''",
        "{priority} =, {prio} =",
        "'SELECT TOP (@most) {sequence}', 'SELECT TOP (@most {sequence}'",
        "'t nvarchar(255) ''$.t''', 't nvarchar(255 ''$.t'''",
        "'DECLARE @turn int', 'DECLRE @turn int'"
    })
    void aSlipIsFound(String good, String bad) {
        assertThat(SqlServerClaim.READY).contains(good);
        String slipped = SqlServerClaim.READY.replace(good, bad);

        assertThatThrownBy(() -> Tsql.parse(resolved(slipped))).isInstanceOf(RuntimeException.class);
    }

    @Test
    void whatIsNotForUsIsFound() {
        for (String statement : List.of(
                "MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE;",
                "SELECT x FROM t WITH (NOLOCK);",
                "DELETE FROM @v WHERE NOT EXISTS (SELECT 1 FROM [dbo].[inbox] t WHERE t.[workitemid] = Id);",
                "UPDATE [dbo].[inbox] SET [status] = Verdict FROM @v v WHERE [workitemid] = v.Id;",
                "SELECT x FROM t GO")) {
            assertThatThrownBy(() -> Tsql.parse(statement)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
