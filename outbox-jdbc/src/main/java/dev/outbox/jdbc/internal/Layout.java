package dev.outbox.jdbc.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which physical column of one table stands for each logical one, and so how a statement reads for it.
 *
 * <p>Statements are written once, with logical names in braces: {@code WHERE {status} = 0}. {@link
 * #resolve} puts in the table and its columns, quoted for the database. Done once per table, not per call.
 *
 * @param table the quoted, qualified table
 * @param columns logical name to quoted column, or to what stands for it
 * @param constants parameters that have the same value in every statement over this table
 */
public record Layout(String table, Map<String, String> columns, Map<String, Object> constants) {
    private static final Pattern LOGICAL = Pattern.compile("\\{([a-z_]+)}");

    public Layout {
        columns = Map.copyOf(columns);
        constants = Map.copyOf(constants);
    }

    /** Without constants. */
    public Layout(String table, Map<String, String> columns) {
        this(table, columns, Map.of());
    }

    /** The same where this name stands for this too. */
    public Layout with(String logical, String text) {
        Map<String, String> more = new HashMap<>(columns);
        more.put(logical, text);
        return new Layout(table, more, constants);
    }

    /** The statement for this table. */
    public Sql resolve(String statement) {
        return Sql.parse(
                LOGICAL.matcher(statement).replaceAll(name -> Matcher.quoteReplacement(physical(name.group(1)))),
                constants);
    }

    private String physical(String logical) {
        if (logical.equals("table")) {
            return table;
        }
        String column = columns.get(logical);
        if (column == null) {
            throw new IllegalStateException("the layout of " + table + " has no column for " + logical);
        }
        return column;
    }
}
