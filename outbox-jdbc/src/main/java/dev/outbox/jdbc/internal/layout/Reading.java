package dev.outbox.jdbc.internal.layout;

/**
 * What stands for a logical column where a statement reads it.
 *
 * @param expression with {@code %s} in each place of the column
 * @param column quoted; empty if the expression has none
 */
public record Reading(String expression, String column) {
    /** The column itself. */
    public static Reading column(String quoted) {
        return new Reading("%s", quoted);
    }

    /** What is made of a column that is null in some rows or has another type: {@code COALESCE(%s, 0)}. */
    public static Reading of(String expression, String column) {
        return new Reading("(" + expression + ")", column);
    }

    /** What is the same for all rows, or a condition. */
    public static Reading fixed(String text) {
        return new Reading(text, "");
    }

    /** @param alias of the table, with its dot; empty if there is none */
    String after(String alias) {
        return expression.replace("%s", alias + column);
    }

    /** As it stands in a statement that gives the table no alias. */
    public String text() {
        return after("");
    }
}
