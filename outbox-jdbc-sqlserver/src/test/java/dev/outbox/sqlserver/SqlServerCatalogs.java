package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.Column;
import org.jspecify.annotations.Nullable;

/** Columns as the catalog of a server would tell of them. */
final class SqlServerCatalogs {
    private SqlServerCatalogs() {}

    /** @param length in bytes; -1 for max, and 0 for a text whose length is no matter */
    static Column column(
            String name,
            String type,
            int length,
            @Nullable String collation,
            boolean nullable,
            boolean computed,
            boolean hasDefault,
            @Nullable String defaultText,
            boolean filled) {
        boolean sized = type.endsWith("char") || type.endsWith("binary");
        int characters = !sized || length <= 0 ? Column.UNLIMITED : type.startsWith("n") ? length / 2 : length;
        String size = !sized || length == 0 ? "" : "(" + (length < 0 ? "max" : String.valueOf(characters)) + ")";
        return new Column(
                name,
                type,
                type + size,
                characters,
                collation,
                nullable,
                false,
                computed,
                hasDefault,
                filled,
                null,
                defaultText);
    }
}
