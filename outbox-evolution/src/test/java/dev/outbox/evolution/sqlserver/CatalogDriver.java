package dev.outbox.evolution.sqlserver;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Answers what a SQL Server would say of a table in its catalog, so that scripts can be made for it without a server. */
final class CatalogDriver {
    /** As the driver of SQL Server numbers it. */
    static final int SNAPSHOT = 4096;

    private final List<Map<String, Object>> columns = new ArrayList<>();
    private final List<Map<String, Object>> indexes = new ArrayList<>();
    private final List<Map<String, Object>> checks = new ArrayList<>();
    private final Map<String, List<Map<String, Object>>> more = new LinkedHashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final List<String> ran = new ArrayList<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private final @Nullable String mark;
    private final boolean online;

    CatalogDriver(@Nullable String mark, boolean online) {
        this.mark = mark;
        this.online = online;
    }

    /** @param type may say that it is computed, or that it has a default: {@code bit default}; and how long it is */
    CatalogDriver column(String name, String type) {
        String[] words = type.replaceAll("\\(.*?\\)", "").split(" ");
        boolean hasDefault = type.contains("default");
        columns.add(Map.ofEntries(
                Map.entry("schema_name", "dbo"),
                Map.entry("column_name", name),
                Map.entry("type_name", words[0]),
                Map.entry("max_length", length(type, words[0].equals("nvarchar"))),
                Map.entry("scale", 3),
                Map.entry("is_nullable", type.contains("null")),
                Map.entry("is_computed", type.contains("computed")),
                Map.entry("has_default", hasDefault ? 1 : 0),
                Map.entry("default_name", hasDefault ? "DF_" + name : "")));
        return this;
    }

    private static int length(String type, boolean twice) {
        Matcher size = Pattern.compile("\\((\\d+)\\)").matcher(type);
        return type.contains("(max)")
                ? -1
                : !size.find() ? (twice ? 200 : 16) : Integer.parseInt(size.group(1)) * (twice ? 2 : 1);
    }

    CatalogDriver index(String name, boolean primaryKey, String column, String filter) {
        indexes.add(Map.of(
                "index_name", name,
                "is_primary_key", primaryKey,
                "type", primaryKey ? 1 : 2,
                "is_disabled", false,
                "filter_definition", filter,
                "column_name", column,
                "key_ordinal", 1));
        return this;
    }

    CatalogDriver disabled(String index) {
        indexes.replaceAll(row -> {
            Map<String, Object> changed = new LinkedHashMap<>(row);
            changed.computeIfPresent("is_disabled", (key, was) -> index.equals(row.get("index_name")));
            return changed;
        });
        return this;
    }

    /** A clustered one that is not the key, which is clustered else. */
    CatalogDriver clustered(String name, String column) {
        indexes.replaceAll(row -> with(row, "type", 2));
        index(name, false, column, "");
        indexes.add(with(indexes.remove(indexes.size() - 1), "type", 1));
        return this;
    }

    private static Map<String, Object> with(Map<String, Object> row, String key, Object value) {
        Map<String, Object> changed = new HashMap<>(row);
        changed.put(key, value);
        return changed;
    }

    /** All texts so far have this one. */
    CatalogDriver collation(String name) {
        columns.replaceAll(
                row -> String.valueOf(row.get("type_name")).endsWith("char") ? with(row, "collation_name", name) : row);
        return this;
    }

    /** All columns so far are of a table in this schema. */
    CatalogDriver schema(String name) {
        columns.replaceAll(row -> with(row, "schema_name", name));
        return this;
    }

    CatalogDriver check(String name, String condition) {
        checks.add(Map.of("name", name, "definition", condition));
        return this;
    }

    /** A row that is answered to queries in which this text is. */
    CatalogDriver answer(String text, Map<String, Object> row) {
        more.computeIfAbsent(text, key -> new ArrayList<>()).add(row);
        return this;
    }

    private record Refusal(String part, int error) {}

    /** Lets the next statement fail that has this in it. */
    CatalogDriver refuse(String part, int error) {
        refusals.add(new Refusal(part, error));
        return this;
    }

    /** The statements that were run, and what they were run under. */
    List<String> ran() {
        return ran;
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (method, arguments) -> connection());
    }

    private Connection connection() {
        return proxy(Connection.class, (method, arguments) -> switch (method) {
            case "getMetaData" -> proxy(DatabaseMetaData.class, (asked, nothing) -> "Microsoft SQL Server");
            case "prepareStatement" ->
                proxy(
                        PreparedStatement.class,
                        (asked, nothing) ->
                                asked.equals("executeQuery") ? rows(answer(String.valueOf(arguments[0]))) : null);
            case "createStatement" ->
                proxy(Statement.class, (asked, query) -> switch (asked) {
                    case "executeQuery" -> rows(answer(String.valueOf(query[0])));
                    case "execute" -> run(String.valueOf(query[0]));
                    case "getUpdateCount" -> 0;
                    default -> null;
                });
            case "getAutoCommit" -> true;
            case "getTransactionIsolation" -> SNAPSHOT;
            case "setTransactionIsolation" -> {
                ran.add("isolation " + arguments[0]);
                yield null;
            }
            default -> null;
        });
    }

    /** All queries so far. */
    List<String> asked() {
        return asked;
    }

    private boolean run(String statement) throws SQLException {
        ran.add(statement);
        for (Refusal refusal : refusals) {
            if (statement.contains(refusal.part)) {
                refusals.remove(refusal);
                throw new SQLException("refused", "S0001", refusal.error);
            }
        }
        return false;
    }

    private List<Map<String, Object>> answer(String query) {
        asked.add(query);
        for (String text : more.keySet()) {
            if (query.contains(text)) {
                return more.get(text);
            }
        }
        if (query.contains("sys.default_constraints")) {
            return columns;
        }
        if (query.contains("sys.index_columns")) {
            return indexes;
        }
        if (query.contains("sys.check_constraints")) {
            return checks;
        }
        if (query.contains("EngineEdition")) {
            return List.of(Map.of("online", online ? 1 : 0));
        }
        if (query.contains("sys.extended_properties")) {
            return mark == null ? List.of() : List.of(Map.of("name", "dev.outbox", "note", mark));
        }
        return query.contains("FROM sys.") ? List.of() : List.of(Map.of());
    }

    private static ResultSet rows(List<Map<String, Object>> rows) {
        int[] at = {-1};
        return proxy(ResultSet.class, (method, arguments) -> {
            if (method.equals("next")) {
                return ++at[0] < rows.size();
            }
            if (!method.startsWith("get")) {
                return null;
            }
            Object none = switch (method) {
                case "getLong" -> 0L;
                case "getInt" -> 0;
                case "getBoolean" -> false;
                default -> null;
            };
            Object value = rows.get(at[0]).getOrDefault(String.valueOf(arguments[0]), none);
            return "".equals(value) ? null : value;
        });
    }

    private interface Answer {
        @Nullable
        Object to(String method, Object[] arguments) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) ->
                        answer.to(method.getName(), arguments == null ? new Object[0] : arguments)));
    }
}
