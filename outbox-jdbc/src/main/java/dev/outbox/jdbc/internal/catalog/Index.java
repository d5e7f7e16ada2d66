package dev.outbox.jdbc.internal.catalog;

import java.util.List;

/**
 * An index as the catalog describes it.
 *
 * @param constraint whether a primary key or a unique constraint made it
 * @param clustered whether it holds the rows themselves
 * @param valid false after a build that failed, or while it is disabled
 * @param filtered whether it has a condition
 * @param filter the condition; empty if it has none, or this login may not see it
 * @param keys the columns of the key in order, with {@code  DESC} after those that descend; an expression stands for itself
 * @param columns all columns that it holds
 */
public record Index(
        String name,
        boolean primaryKey,
        boolean constraint,
        boolean unique,
        boolean clustered,
        boolean valid,
        boolean filtered,
        String filter,
        List<String> keys,
        List<String> columns) {
    /** Whether it finds every row that has a certain value in this column. */
    public boolean finds(String column) {
        return valid
                && !keys.isEmpty()
                && unquoted(keys.get(0)).equals(column)
                && (filter.isEmpty() || unquoted(filter).equals(column + " IS NOT NULL"));
    }

    private static String unquoted(String text) {
        return text.replaceAll("[()\\[\\]\"]", "");
    }
}
