package dev.outbox.postgres;

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

    /** Plans it, generically or for the values, runs it, and takes back what it did. */
    Plan explain(String name, String statement, boolean generic) throws SQLException {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        String numbered = PARAMETER
                .matcher(statement)
                .replaceAll(found -> found.group(1) == null
                        ? "::"
                        : Matcher.quoteReplacement(
                                "$" + numbers.computeIfAbsent(found.group(1), n -> numbers.size() + 1)));
        String declared =
                String.join(", ", numbers.keySet().stream().map(types::get).toList());
        String given =
                String.join(", ", numbers.keySet().stream().map(values::get).toList());
        String mode = generic ? "force_generic_plan" : "force_custom_plan";
        try (Connection connection = dataSource.getConnection();
                Statement run = connection.createStatement()) {
            connection.setAutoCommit(false);
            run.execute("SET LOCAL plan_cache_mode = " + mode);
            run.execute("PREPARE planned (" + declared + ") AS "
                    + table.layout().resolve(numbered).text());
            String json;
            try (ResultSet row =
                    run.executeQuery("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned (" + given + ")")) {
                row.next();
                json = row.getString(1);
            }
            connection.rollback();
            return Plan.read(connection, name + " under " + mode, json);
        }
    }
}
