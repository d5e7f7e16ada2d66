package dev.outbox.jdbc.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.internal.sql.Sql;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TemplateTest {
    /** As in a table that has both: the old status is a text, and says Done a second time; there are no keys yet. */
    private static final Layout BOTH = new Layout(
            "t",
            Map.of(
                    "status", Reading.of("array_position(NAMES, %s) - 1", "\"Status\""),
                    "due_on", Reading.column("\"DueTimeUtc\""),
                    "topic", Reading.column("\"Topic\""),
                    "message_key", Reading.fixed("(NULL::text)")),
            Map.of(
                    "due_on", List.of(new Target("due_on"), new Target("\"DueTimeUtc\"")),
                    "status",
                            List.of(
                                    new Target("status"),
                                    new Target("\"Status\"", "NAMES[(%s) + 1]"),
                                    new Target("\"IsProcessed\"", "((%s) = 2)")),
                    "message_key", List.of()),
            Map.of());

    private static final Layout CANONICAL = Layout.of(
            "t", Map.of("status", "status", "due_on", "due_on", "topic", "topic", "message_key", "message_key"));

    private static String sent(String statement) {
        return new Template(BOTH).resolve(statement);
    }

    @Test
    void aCanonicalTableGetsTheStatementAsItIsWritten() {
        String statement = "INSERT INTO {table} ({topic:}, {status:}) VALUES ({topic: lower('A')}, {status: 0});"
                + " UPDATE {table} t SET {status = 2}, {due_on once = random()} WHERE t.{topic} = '{}'";

        assertThat(new Template(CANONICAL).resolve(statement))
                .isEqualTo("INSERT INTO t (topic, status) VALUES (lower('A'), 0);"
                        + " UPDATE t t SET status = 2, due_on = random() WHERE t.topic = '{}'");
    }

    @Test
    void anAssignmentGoesToEachColumn() {
        assertThat(sent("UPDATE {table} t SET {due_on = now()}, {topic = :topic} WHERE t.{due_on} > now()"))
                .isEqualTo("UPDATE t t SET due_on = now(), \"DueTimeUtc\" = now(), \"Topic\" = :topic"
                        + " WHERE t.\"DueTimeUtc\" > now()");
    }

    @Test
    void aValueIsTranslatedForItsColumn() {
        assertThat(sent("SET {status = v.status}"))
                .isEqualTo(
                        "SET status = v.status, \"Status\" = NAMES[(v.status) + 1], \"IsProcessed\" = ((v.status) = 2)");
    }

    @Test
    void whatAnAssignmentReadsIsResolvedToo() {
        assertThat(sent("SET {due_on = CASE WHEN t.{status} = 0 THEN f({due_on}, 1) END}"))
                .isEqualTo(
                        "SET due_on = CASE WHEN (array_position(NAMES, t.\"Status\") - 1) = 0 THEN f(\"DueTimeUtc\", 1) END,"
                                + " \"DueTimeUtc\" = CASE WHEN (array_position(NAMES, t.\"Status\") - 1) = 0"
                                + " THEN f(\"DueTimeUtc\", 1) END");
    }

    @Test
    void whatIsSaidToBeWrittenOnceIs() {
        assertThat(sent("SET {due_on once = now() + random() * interval '1 second'}"))
                .isEqualTo("SET due_on = now() + random() * interval '1 second'");
    }

    @Test
    void anInsertNamesEachColumnAndItsValue() {
        assertThat(sent("({topic:}, {due_on:}, {status:}) VALUES ({topic: :topic}, {due_on: f(:a, :b)}, {status: 0})"))
                .isEqualTo("(\"Topic\", due_on, \"DueTimeUtc\", status, \"Status\", \"IsProcessed\")"
                        + " VALUES (:topic, f(:a, :b), f(:a, :b), 0, NAMES[(0) + 1], ((0) = 2))");
    }

    @Test
    void whatTheTableHasNoColumnForIsLeftOutWithItsComma() {
        assertThat(sent("({topic:},\n    {message_key:}) VALUES ({topic: :topic}, {message_key: :key})"))
                .isEqualTo("(\"Topic\") VALUES (:topic)");
        assertThat(sent("SET {message_key = NULL}, {topic = :topic}")).isEqualTo("SET  \"Topic\" = :topic");
        assertThat(sent("SET {topic = :topic}, {message_key = NULL} WHERE")).isEqualTo("SET \"Topic\" = :topic WHERE");
    }

    @Test
    void anAliasGoesToTheColumnInsideOfAnExpression() {
        assertThat(sent("t.{status}, f.{message_key}, {status}"))
                .isEqualTo(
                        "(array_position(NAMES, t.\"Status\") - 1), (NULL::text), (array_position(NAMES, \"Status\") - 1)");
    }

    @Test
    void aParameterThatIsLeftOutMayStillBeSet() {
        Sql sql = BOTH.resolve(
                "INSERT INTO {table} ({topic:}, {message_key:}) VALUES ({topic: :topic}, {message_key: :key})");

        assertThat(sql.text()).isEqualTo("INSERT INTO t (\"Topic\") VALUES (?)");
    }

    @Test
    void whatIsNoNotationIsNamed() {
        assertThatThrownBy(() -> sent("SET {due_on + 1}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not a logical column, nor what is written to one: {due_on + 1}");
        assertThatThrownBy(() -> sent("SET {due_on = now()"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a brace is not closed: {due_on = now()");
    }
}
