package dev.outbox.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A statement with named parameters ({@code :name}), translated once to JDBC's question marks. */
public final class Sql {
    /** A name after a single colon; casts (::) and comments stay as they are. */
    private static final Pattern PARAMETER = Pattern.compile("--[^\n]*|::|:([a-z_][a-z_0-9]*)");

    private final String text;
    private final Map<String, int[]> positions;
    private final Map<String, Object> constants;

    /** The positions of each statement, where there are several. */
    private final List<Map<String, int[]>> parts;

    private Sql(
            String text, Map<String, int[]> positions, Map<String, Object> constants, List<Map<String, int[]>> parts) {
        this.text = text;
        this.positions = positions;
        this.constants = constants;
        this.parts = parts;
    }

    public static Sql parse(String statement) {
        return parse(statement, Map.of(), Set.of());
    }

    /** The names of the parameters of a statement. */
    public static Set<String> parameters(String statement) {
        return PARAMETER
                .matcher(statement)
                .results()
                .filter(found -> found.group(1) != null)
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
    }

    /**
     * @param constants values of parameters, where the statement has them, that each execution sets by itself
     * @param settable parameters that may be set even where they are not in the statement any more
     */
    public static Sql parse(String statement, Map<String, Object> constants, Set<String> settable) {
        Map<String, List<Integer>> found = new HashMap<>();
        StringBuilder text = new StringBuilder();
        Matcher matcher = PARAMETER.matcher(statement);
        int count = 0;
        while (matcher.find()) {
            String name = matcher.group(1);
            if (name == null) {
                matcher.appendReplacement(
                        text, Matcher.quoteReplacement(matcher.group().startsWith("--") ? "" : "::"));
            } else {
                matcher.appendReplacement(text, "?");
                found.computeIfAbsent(name, n -> new ArrayList<>()).add(++count);
            }
        }
        matcher.appendTail(text);
        Map<String, int[]> positions = new HashMap<>();
        settable.forEach(name -> positions.put(name, new int[0]));
        found.forEach((name, at) ->
                positions.put(name, at.stream().mapToInt(Integer::intValue).toArray()));
        Map<String, Object> present = new HashMap<>(constants);
        present.keySet().retainAll(positions.keySet());
        return new Sql(text.toString(), positions, present, List.of());
    }

    /** Several statements that are sent together. A parameter may be set in all of them, or {@linkplain Query#part in one}. */
    public static Sql together(List<Sql> statements) {
        Map<String, List<Integer>> all = new HashMap<>();
        Map<String, Object> constants = new HashMap<>();
        List<Map<String, int[]>> parts = new ArrayList<>();
        int before = 0;
        for (Sql statement : statements) {
            Map<String, int[]> part = new HashMap<>();
            int offset = before;
            statement.positions.forEach((name, at) -> {
                part.put(
                        name,
                        Arrays.stream(at).map(position -> position + offset).toArray());
                List<Integer> ofName = all.computeIfAbsent(name, n -> new ArrayList<>());
                Arrays.stream(part.get(name)).forEach(ofName::add);
            });
            before += statement.positions.values().stream()
                    .mapToInt(at -> at.length)
                    .sum();
            constants.putAll(statement.constants);
            parts.add(part);
        }
        Map<String, int[]> positions = new HashMap<>();
        all.forEach((name, at) ->
                positions.put(name, at.stream().mapToInt(Integer::intValue).toArray()));
        String text = statements.stream().map(Sql::text).collect(Collectors.joining(";\n"));
        return new Sql(text, positions, constants, parts);
    }

    /** The statement as the driver sees it. */
    public String text() {
        return text;
    }

    /** Prepares it on this connection; close it when done. */
    public Query on(Connection connection) throws SQLException {
        Query query = new Query(connection.prepareStatement(text), positions, parts);
        for (Map.Entry<String, Object> constant : constants.entrySet()) {
            query.set(constant.getKey(), constant.getValue());
        }
        return query;
    }
}
