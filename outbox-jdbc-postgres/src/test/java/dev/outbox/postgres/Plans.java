package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** Runs main code's own statements under EXPLAIN, prepared as the driver prepares them, and undoes them. */
final class Plans {
    private static final Pattern PARAMETER = Pattern.compile("::|:([a-z_]+)");

    /** As the layout of an inbox resolves it, but with the parameter still to be numbered. */
    private static final String MINE = "{consumer} = :consumer";

    private final DataSource dataSource;
    private final PostgresTable table;
    private final Map<String, String> types = new LinkedHashMap<>();
    private final Map<String, String> values = new LinkedHashMap<>();

    /** @param dataSource opens a connection for each plan, so that no statement is prepared already */
    Plans(DataSource dataSource, PostgresTable table) {
        this.dataSource = dataSource;
        this.table = table;
    }

    /**
     * @param type what main code binds
     * @param value as an SQL expression
     */
    Plans bind(String name, String type, String value) {
        types.put(name, type);
        values.put(name, value);
        return this;
    }

    /** How main code has its statements planned. */
    enum Planned {
        /** Once and for all values: {@link PinnedPlan}. */
        PINNED,
        /** The same, for statements that join arrays: {@link PinnedPlan#JOINING}. */
        JOINING,
        /** At each run: {@link FreshPlan}. */
        FRESH
    }

    /** Plans it as main code does, runs it, and takes back what it did. */
    Plan explain(String name, String statement, Planned how) throws SQLException {
        return explain(name, statement, how, () -> {});
    }

    /** As {@link #explain}, with a plan that was made before this happened. */
    Plan explain(String name, String statement, Planned how, Runnable meanwhile) throws SQLException {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        String numbered = PARAMETER
                .matcher(table.layout().constants().isEmpty() ? statement : statement.replace("{mine}", MINE))
                .replaceAll(found -> found.group(1) == null
                        ? "::"
                        : Matcher.quoteReplacement(
                                "$" + numbers.computeIfAbsent(found.group(1), n -> numbers.size() + 1)));
        assertThat(types)
                .as("parameters of " + name + " that are bound")
                .containsKeys(numbers.keySet().toArray(new String[0]));
        String declared =
                String.join(", ", numbers.keySet().stream().map(types::get).toList());
        String given =
                String.join(", ", numbers.keySet().stream().map(values::get).toList());
        try (Connection connection = dataSource.getConnection();
                Statement run = connection.createStatement()) {
            connection.setAutoCommit(false);
            run.execute("PREPARE planned (" + declared + ") AS "
                    + table.layout().resolve(numbered).text());
            explain(run, how, given);
            connection.rollback();
            meanwhile.run();
            String json = explain(run, how, given);
            connection.rollback();
            return Plan.read(connection, name + ", " + how, json);
        }
    }

    /** The heads that a claim of keys would have found. */
    private static final String HEADS = """
            SELECT set_config('outbox.heads', COALESCE(array_agg(id)::text, '{}'), true)
            FROM (SELECT DISTINCT ON (message_key) work_item_id AS id FROM %s
                WHERE status = 0 AND message_key IS NOT NULL ORDER BY message_key, sequence LIMIT 500) heads
            """;

    private String explain(Statement run, Planned how, String given) throws SQLException {
        run.execute(HEADS.formatted(table.layout().table()));
        run.execute(
                switch (how) {
                    case PINNED -> PinnedPlan.SETTINGS;
                    case JOINING -> PinnedPlan.JOINING;
                    case FRESH -> "SET LOCAL plan_cache_mode = force_custom_plan";
                });
        try (ResultSet row =
                run.executeQuery("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned (" + given + ")")) {
            row.next();
            return row.getString(1);
        }
    }
}
