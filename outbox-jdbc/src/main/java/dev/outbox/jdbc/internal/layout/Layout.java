package dev.outbox.jdbc.internal.layout;

import dev.outbox.jdbc.internal.sql.Sql;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which columns of one table stand for the logical ones, and so how a statement reads for it.
 *
 * <p>A statement is written once, with logical names in braces, as the {@link Template} explains. For a canonical table it is
 * sent as it is written, with the names of the table and its columns. For a table that is still on its way from a legacy
 * layout, an expression may stand for what is read, and what is written may go to two columns. A statement is resolved once
 * per table, not per call.
 *
 * @param table the quoted, qualified table
 * @param columns by logical name
 * @param written by logical name, where that is not just the column; nothing is written to a column that has no target
 * @param constants parameters that have the same value in every statement over this table
 */
public record Layout(
        String table, Map<String, Reading> columns, Map<String, List<Target>> written, Map<String, Object> constants) {
    public Layout {
        columns = Map.copyOf(columns);
        written = Map.copyOf(written);
        constants = Map.copyOf(constants);
    }

    /**
     * Of a canonical table, or another that has one column for each logical one.
     *
     * @param columns quoted, by logical name
     */
    public static Layout of(String table, Map<String, String> columns) {
        Map<String, Reading> readings = new HashMap<>();
        columns.forEach((logical, quoted) -> readings.put(logical, Reading.column(quoted)));
        return new Layout(table, readings, Map.of(), Map.of());
    }

    /** The same with something else for one logical column. */
    public Layout with(String logical, Reading reading) {
        Map<String, Reading> changed = new HashMap<>(columns);
        changed.put(logical, reading);
        return new Layout(table, changed, written, constants);
    }

    /** The statement for this table. A parameter that the table has no column for may be set; it is not sent. */
    public Sql resolve(String statement) {
        return Sql.parse(new Template(this).resolve(statement), constants, Sql.parameters(statement));
    }

    /** What stands for a logical column where no alias is given. */
    public String column(String logical) {
        return reading(logical).text();
    }

    Reading reading(String logical) {
        Reading reading = columns.get(logical);
        if (reading == null) {
            throw new IllegalStateException("the layout of " + table + " has no column for " + logical);
        }
        return reading;
    }

    List<Target> targets(String logical) {
        List<Target> targets = written.get(logical);
        return targets == null ? List.of(new Target(column(logical))) : targets;
    }
}
