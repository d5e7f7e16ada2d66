package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.internal.Layout;
import dev.outbox.migrations.Database;
import dev.outbox.migrations.OutboxMigrations;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every statement of this module, and of the admin's for SQL Server, is T-SQL, found out without a server. */
class TsqlTest {
    private static final List<Class<?>> HOLDERS = List.of(
            admin("SqlServerDead"),
            admin("SqlServerDoctor"),
            admin("SqlServerFlavor"),
            admin("SqlServerLookup"),
            admin("SqlServerPurge"),
            admin("SqlServerStatus"),
            SqlServerBatch.class,
            SqlServerChange.class,
            SqlServerClaim.class,
            SqlServerEnqueue.class,
            SqlServerHeartbeat.class,
            SqlServerLegacyClaim.class,
            SqlServerPurge.class,
            SqlServerReceive.class,
            SqlServerRecords.class,
            SqlServerHandling.class,
            SqlServerSettle.class,
            SqlServerSource.class,
            SqlServerTable.class);

    /** They are nobody's business but its own and this test's. */
    private static Class<?> admin(String name) {
        try {
            return Class.forName("dev.outbox.admin." + name);
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
        columns.put("unprocessed", "");
        columns.put("done", "[status] = 2");
        columns.put("patience", "10000");
        columns.put("by", "[correlationid]");
        columns.put("audit", "[dbo].[outbox_audit]");
        columns.put("pollers", "[dbo].[outbox_pollers]");
        columns.put("same_consumer", "t.[consumer] = heads.consumer");
        return new Layout("[dbo].[inbox]", columns);
    }

    /** Every constant that is a whole statement or batch: those that tests may see. */
    private static Map<String, String> statements() throws IllegalAccessException {
        Map<String, String> statements = new TreeMap<>();
        for (Class<?> holder : HOLDERS) {
            for (Field field : holder.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())
                        && !Modifier.isPrivate(field.getModifiers())
                        && field.getType() == String.class) {
                    field.setAccessible(true);
                    statements.put(holder.getName() + "." + field.getName(), (String) field.get(null));
                }
            }
        }
        return statements;
    }

    private static String resolved(String statement) {
        String text = layout().resolve(statement).text().strip();
        return text.endsWith(";") ? text : text + ";";
    }

    static Stream<Arguments> everyStatement() throws IllegalAccessException {
        return statements().entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void everyStatement(String name, String statement) {
        Tsql.parse(resolved(statement));
    }

    @Test
    void noHolderOfStatementsIsForgotten() throws IllegalAccessException {
        assertThat(statements()).hasSizeGreaterThanOrEqualTo(40);
        assertThat(statements().keySet().stream().map(name -> name.substring(0, name.lastIndexOf('.'))))
                .containsAll(HOLDERS.stream().map(Class::getName).toList());
    }

    @Test
    void everyScript() {
        Tsql.parse(OutboxMigrations.render(Database.SQLSERVER, "billing.outbox"));
        Tsql.parse(OutboxMigrations.renderInbox(Database.SQLSERVER, "inbox"));
        Tsql.parse(OutboxMigrations.renderAdmin(Database.SQLSERVER, "billing"));
        Tsql.parse(OutboxMigrations.renderLookup(Database.SQLSERVER, "billing.outbox"));
    }

    /** What the test is for: each of these slips is found. */
    @ParameterizedTest
    @CsvSource({
        "UPDATE {table} WITH, UPDTE {table} WITH",
        "ORDER BY {sequence}, ORDER {sequence}",
        "FROM (, FORM (",
        "'WHERE {sequence} = picked.place', 'WERE {sequence} = picked.place'",
        "'COALESCE(@end,', 'COALESCE(@end),'",
        "'THEN 1 ELSE 0 END)', 'THEN 1 ELSE 0 END'",
        "'THEN 1 ELSE 0 END)', 'THEN 1 ELSE 0)'",
        "READPAST, READPASS",
        "'SET @left = @left - @@ROWCOUNT;', 'SET @left = @left - ;'",
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
                "SELECT x FROM t GO")) {
            assertThatThrownBy(() -> Tsql.parse(statement)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
