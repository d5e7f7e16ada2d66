package dev.outbox.jdbc.internal.catalog;

import dev.outbox.internal.Require;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A table's name, checked once: {@code name} or {@code schema.name}. The table's own name has letters, digits and underscores,
 * does not start with a digit and has at most 63 characters, because indexes and constraints are named after it. A schema may
 * have any name without control characters, colons and pairs of hyphens, which statements use. Names are case-sensitive:
 * statements quote them.
 */
public record TableName(@Nullable String schema, String name) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final Pattern SCHEMA = Pattern.compile("(?!.*--)[\\P{Cntrl}&&[^:]]{1,128}");

    public TableName {
        if (schema != null && !SCHEMA.matcher(schema).matches()) {
            throw new IllegalArgumentException(
                    "schema must have 1 to 128 characters, no control character, no colon and no two hyphens in a row,"
                            + " was \"" + schema + "\"");
        }
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("table must be letters, digits and underscores, not start with a"
                    + " digit and have at most 63 characters, was \"" + name + "\"");
        }
    }

    /** @param text {@code name} or {@code schema.name}; the last dot ends the schema */
    public static TableName parse(String text) {
        Require.present("table", text);
        int dot = text.lastIndexOf('.');
        return dot < 0 ? new TableName(null, text) : new TableName(text.substring(0, dot), text.substring(dot + 1));
    }

    /** The same table, in this schema. */
    public TableName in(String schema) {
        return new TableName(schema, name);
    }

    @Override
    public String toString() {
        return schema == null ? name : schema + "." + name;
    }
}
