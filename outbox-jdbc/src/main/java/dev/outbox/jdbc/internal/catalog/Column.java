package dev.outbox.jdbc.internal.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A column as the catalog describes it.
 *
 * @param type its name without a length, as the database calls it: {@code nvarchar}, {@code character varying}
 * @param definition the type as a statement declares it, with its length: {@code nvarchar(255)}
 * @param characters how many characters, or bytes of a binary column, it can hold; {@link #UNLIMITED} if there is no limit or
 *     none applies
 * @param collation null if the type has none, or the database's default applies
 * @param keyed whether it belongs to the primary key
 * @param computed whether the database computes it from other columns
 * @param filled whether an insert may leave it out: it allows nulls, or the database gives it a value
 * @param defaultName the name of its default constraint, which only SQL Server has
 * @param defaultText the expression of its default; null if it has none, or this login may not see it
 */
public record Column(
        String name,
        String type,
        String definition,
        int characters,
        @Nullable String collation,
        boolean nullable,
        boolean keyed,
        boolean computed,
        boolean hasDefault,
        boolean filled,
        @Nullable String defaultName,
        @Nullable String defaultText) {
    public static final int UNLIMITED = Integer.MAX_VALUE;
}
