package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every text that a statement compares, chooses or cuts has one collation, found out without a server. */
class CollationsTest {
    private static final String EVERY_STATEMENT = "dev.outbox.sqlserver.TsqlTest#everyStatement";

    /**
     * A text of a table variable has the collation of the database, one of our tables has its own, and to compare the two
     * is error 468: so whatever is compared says its collation.
     */
    @ParameterizedTest(name = "{0}")
    @MethodSource(EVERY_STATEMENT)
    void aTextThatIsComparedSaysItsCollation(String name, String statement) {
        assertThat(comparedWithoutCollation(TsqlTest.resolved(statement))).isEmpty();
    }

    @Test
    void aTextThatIsComparedWithoutACollationIsFound() {
        String slipped = SqlServerReceive.ENQUEUE.replace(
                "Source nvarchar(255) COLLATE Latin1_General_100_BIN2", "Source nvarchar(255)");

        assertThat(comparedWithoutCollation(TsqlTest.resolved(slipped))).containsExactly("Source");
    }

    /** A column of a table on its way has whatever collation it had, until phase 4. */
    @ParameterizedTest(name = "{0}")
    @MethodSource(EVERY_STATEMENT)
    void aTextOfAnOldColumnIsComparedWithOneOfOursByANamedCollation(String name, String statement) {
        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            if (statement.equals(SqlServerItems.FIND) && phase.before(Phase.FLIPPED)) {
                continue; // it is for what was claimed before the flip, after it
            }
            assertThat(inConflict(SqlServerInboxColumnsTest.layout(phase), statement))
                    .as("inbox, %s", phase)
                    .isEmpty();
            assertThat(inConflict(SqlServerColumnsTest.layout(phase), statement))
                    .as("outbox, %s", phase)
                    .isEmpty();
        }
    }

    @Test
    void aComparisonOfTwoCollationsIsFound() {
        String slipped = "SELECT 1 FROM {table} t JOIN @messages m ON t.{message_id} = CAST(m.Name AS varchar(64))"
                + " WHERE (t.{topic} = N'a' OR m.Name = t.{source}) AND m.Name = @name";

        assertThat(inConflict(
                        SqlServerInboxColumnsTest.layout(Phase.DUAL),
                        "DECLARE @messages TABLE (Name nvarchar(255) COLLATE Latin1_General_100_BIN2); " + slipped))
                .containsExactly("t.[MessageId] = CAST(m.Name AS varchar(64))", "m.Name = t.[Source]");
    }

    private static List<String> inConflict(Layout layout, String statement) {
        Map<String, Reading> columns = new HashMap<>(TsqlTest.layout().columns());
        columns.putAll(layout.columns());
        return Conditions.inConflict(
                new Layout(layout.table(), columns, layout.written(), layout.constants())
                        .resolve(statement)
                        .text(),
                List.of("MessageId", "Source", "Topic", "Status", "CorrelationId", "LastError", "Payload"),
                List.of("MessageIdNew", "SourceNew", "MessageKey", "ExactKey", "Consumer", "TenantId"));
    }

    /** What is chosen from two collations has none, and no varchar can be made of it (457). */
    @ParameterizedTest(name = "{0}")
    @MethodSource(EVERY_STATEMENT)
    void aTextThatIsChosenFromTwoColumnsSaysItsCollation(String name, String statement) {
        assertThat(statement).doesNotContainPattern("THEN \\{last_error}\\s+ELSE \\w\\.\\w+ (?!COLLATE)");
    }

    /** A variable has the collation of the database, which may count by code point where others count by unit. */
    @ParameterizedTest(name = "{0}")
    @MethodSource(EVERY_STATEMENT)
    void aTextThatIsCutSaysItsCollation(String name, String statement) {
        assertThat(statement).doesNotContainPattern("SUBSTRING\\(@(?!bytes)|LEFT\\(@|LEN\\(@");
    }

    private static List<String> comparedWithoutCollation(String statement) {
        return Pattern.compile("DECLARE @\\w+ TABLE \\((.*?)\\);", Pattern.DOTALL)
                .matcher(statement)
                .results()
                .flatMap(table -> Pattern.compile("(\\w+) nvarchar\\(\\w+\\) (?!COLLATE)")
                        .matcher(table.group(1))
                        .results())
                .map(column -> column.group(1))
                .distinct()
                .filter(column -> Pattern.compile(
                                "\\b\\w\\." + column + "\\b( \\+ N'.')? [=<>]|[=<>] \\w\\." + column + "\\b")
                        .matcher(statement)
                        .find())
                .toList();
    }
}
