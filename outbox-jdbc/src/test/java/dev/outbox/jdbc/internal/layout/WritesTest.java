package dev.outbox.jdbc.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.internal.layout.Writes.Target;
import dev.outbox.jdbc.internal.sql.Sql;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WritesTest {
    /** As in a table that has both: the old status is a text, and says Done a second time; there are no keys yet. */
    private static final Writes BOTH = new Writes(
            Map.of(
                    "due_on", List.of(new Target("\"due_on\""), new Target("\"DueTimeUtc\"")),
                    "status",
                            List.of(
                                    new Target("\"status\""),
                                    new Target("\"Status\"", "(ARRAY['Seen','Done'])[(%1$s) + 1]"),
                                    new Target("\"IsProcessed\"", "((%1$s) = 2)")),
                    "message_key", List.of()),
            Map.of("status", "0"));

    private static String rewritten(String statement) {
        return BOTH.rewrite(statement).replaceAll("\\s+", " ").strip();
    }

    @Test
    void anUpdateAssignsToEachColumn() {
        assertThat(rewritten("UPDATE {table} t SET {due_on} = now(), {topic} = :topic WHERE t.{due_on} > now()"))
                .isEqualTo("UPDATE {table} t SET \"due_on\" = now(), \"DueTimeUtc\" = now(), {topic} = :topic"
                        + " WHERE t.{due_on} > now()");
    }

    @Test
    void anUpdateOfATableThatIsNamedLaterDoesToo() {
        assertThat(rewritten("UPDATE t SET {due_on} = m.due FROM {table} t JOIN m ON t.{topic} = m.topic"))
                .isEqualTo("UPDATE t SET \"due_on\" = m.due, \"DueTimeUtc\" = m.due FROM {table} t JOIN m"
                        + " ON t.{topic} = m.topic");
    }

    @Test
    void aValueIsTranslatedForItsColumn() {
        assertThat(rewritten("UPDATE {table} SET {status} = v.status FROM v"))
                .isEqualTo("UPDATE {table} SET \"status\" = v.status,"
                        + " \"Status\" = (ARRAY['Seen','Done'])[(v.status) + 1],"
                        + " \"IsProcessed\" = ((v.status) = 2) FROM v");
    }

    @Test
    void commasAndWordsInsideAnExpressionDoNotEndIt() {
        String expression = "CASE WHEN f(1, 2) IS DISTINCT FROM (SELECT a, b FROM c WHERE d) THEN 'from, where)' END";

        assertThat(rewritten("UPDATE {table} SET {due_on} = " + expression + ", {topic} = x RETURNING {due_on}"))
                .isEqualTo("UPDATE {table} SET \"due_on\" = " + expression + ", \"DueTimeUtc\" = " + expression
                        + ", {topic} = x RETURNING {due_on}");
    }

    @Test
    void hintsAndOutputOfSqlServerStayAsTheyAre() {
        assertThat(rewritten(
                        "UPDATE {table} WITH (ROWLOCK, READPAST) SET {due_on} = @now OUTPUT inserted.{due_on} INTO @t (d)"
                                + " FROM p WHERE {due_on} = p.d"))
                .isEqualTo("UPDATE {table} WITH (ROWLOCK, READPAST) SET \"due_on\" = @now, \"DueTimeUtc\" = @now"
                        + " OUTPUT inserted.{due_on} INTO @t (d) FROM p WHERE {due_on} = p.d");
    }

    @Test
    void whatIsRandomIsWrittenOnce() {
        assertThat(rewritten("UPDATE {table} SET {due_on} = now() + random() * interval '1 second'"))
                .isEqualTo("UPDATE {table} SET \"due_on\" = now() + random() * interval '1 second'");
    }

    @Test
    void everyUpdateOfAStatementIsRewritten() {
        assertThat(rewritten("WITH a AS (UPDATE {table} SET {due_on} = 1 RETURNING 2) UPDATE {table} SET {due_on} = 3"))
                .isEqualTo("WITH a AS (UPDATE {table} SET \"due_on\" = 1, \"DueTimeUtc\" = 1 RETURNING 2)"
                        + " UPDATE {table} SET \"due_on\" = 3, \"DueTimeUtc\" = 3");
    }

    @Test
    void anInsertOfValuesGetsTheOldColumnsAndWhatHasNoDefault() {
        assertThat(rewritten("INSERT INTO {table} ({topic}, {due_on}, {message_key}) VALUES (:topic, f(:a, :b), :key)"
                        + " ON CONFLICT DO NOTHING"))
                .isEqualTo("INSERT INTO {table} ({topic}, \"due_on\", \"DueTimeUtc\", \"status\", \"Status\","
                        + " \"IsProcessed\") VALUES ( :topic, f(:a, :b), f(:a, :b), 0,"
                        + " (ARRAY['Seen','Done'])[(0) + 1], ((0) = 2) ) ON CONFLICT DO NOTHING");
    }

    @Test
    void anInsertOfASelectionGetsThemToo() {
        assertThat(rewritten("INSERT INTO {table} AS t ({topic}, {status}) SELECT m.topic, 2 FROM m ORDER BY 1"))
                .isEqualTo("INSERT INTO {table} AS t ({topic}, \"status\", \"Status\", \"IsProcessed\")"
                        + " SELECT m.topic, 2, (ARRAY['Seen','Done'])[(2) + 1], ((2) = 2) FROM m ORDER BY 1");
    }

    @Test
    void aConflictThatUpdatesIsAnUpdate() {
        assertThat(rewritten("INSERT INTO {table} ({status}) SELECT 1 ON CONFLICT ({topic}) DO UPDATE SET"
                        + " {due_on} = EXCLUDED.{due_on} RETURNING 1"))
                .endsWith("ON CONFLICT ({topic}) DO UPDATE SET \"due_on\" = EXCLUDED.{due_on},"
                        + " \"DueTimeUtc\" = EXCLUDED.{due_on} RETURNING 1");
    }

    @Test
    void aDeleteAndALockStayAsTheyAre() {
        String statement = "DELETE FROM {table} WHERE {status} = 2 AND id IN (SELECT 1 FROM x FOR UPDATE SKIP LOCKED)";

        assertThat(rewritten(statement)).isEqualTo(statement);
    }

    @Test
    void whatIsNoAssignmentIsNamed() {
        assertThatThrownBy(() -> BOTH.rewrite("UPDATE {table} SET due_on = 1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not an assignment to a logical column: due_on = 1");
    }

    @Test
    void aParameterThatALayoutLeavesOutMayStillBeSet() {
        Layout layout = new Layout("t", Map.of("topic", "topic"), Map.of(), BOTH);

        Sql sql = layout.resolve("INSERT INTO {table} ({topic}, {message_key}) VALUES (:topic, :key)");

        assertThat(sql.text()).doesNotContain("message_key").containsOnlyOnce("?");
    }
}
