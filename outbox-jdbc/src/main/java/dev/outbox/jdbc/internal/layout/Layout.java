package dev.outbox.jdbc.internal.layout;

import dev.outbox.jdbc.internal.sql.Sql;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which physical column of one table stands for each logical one, and so how a statement reads for it.
 *
 * <p>Statements are written once, with logical names in braces: {@code WHERE {status} = 0}. {@link
 * #resolve} puts in the table and its columns, quoted for the database. Done once per table, not per call.
 *
 * <p>Where a table has no such column, or one of another type, an expression in parentheses stands for it; in it
 * {@code @} is the place of the alias: {@code t.{status}} with {@code (CASE @"Status" …)} is {@code (CASE t."Status" …)}.
 *
 * @param table the quoted, qualified table
 * @param columns logical name to quoted column, or to what stands for it
 * @param constants parameters that have the same value in every statement over this table
 * @param writes where assignments go, if not just to the column
 */
public record Layout(String table, Map<String, String> columns, Map<String, Object> constants, Writes writes) {
    private static final Pattern LOGICAL = Pattern.compile("(?:\\b([A-Za-z]+\\.))?\\{([a-z_]+)}");

    public Layout {
        columns = Map.copyOf(columns);
        constants = Map.copyOf(constants);
    }

    /** Without constants. */
    public Layout(String table, Map<String, String> columns) {
        this(table, columns, Map.of());
    }

    /** With one column for each logical one. */
    public Layout(String table, Map<String, String> columns, Map<String, Object> constants) {
        this(table, columns, constants, Writes.PLAIN);
    }

    /** The same with something else for one logical column. */
    public Layout with(String logical, String physical) {
        Map<String, String> changed = new HashMap<>(columns);
        changed.put(logical, physical);
        return new Layout(table, changed, constants, writes);
    }

    /** The statement for this table. */
    public Sql resolve(String statement) {
        return Sql.parse(
                LOGICAL.matcher(writes.rewrite(statement)).replaceAll(name -> Matcher.quoteReplacement(physical(name))),
                constants,
                Sql.parameters(statement));
    }

    private String physical(MatchResult name) {
        @Nullable String alias = name.group(1);
        String prefix = alias == null ? "" : alias;
        String logical = name.group(2);
        if (logical.equals("table")) {
            return prefix + table;
        }
        String column = columns.get(logical);
        if (column == null && logical.equals("item_id")) { // named otherwise only by some tables on their way
            column = columns.get("work_item_id");
        }
        if (column == null) {
            throw new IllegalStateException("the layout of " + table + " has no column for " + logical);
        }
        return column.startsWith("(") ? column.replace("@", prefix) : prefix + column;
    }
}
