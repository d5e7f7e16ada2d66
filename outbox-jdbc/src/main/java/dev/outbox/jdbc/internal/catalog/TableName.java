package dev.outbox.jdbc.internal.catalog;

import dev.outbox.internal.Require;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A table's name, checked once: {@code name} or {@code schema.name}, each part letters, digits and
 * underscores, not starting with a digit, at most 63 characters. Case counts, for the name is quoted.
 */
public record TableName(@Nullable String schema, String name) {
    private static final Pattern PART = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public TableName {
        if (schema != null) {
            check("schema", schema);
        }
        check("table", name);
    }

    public static TableName parse(String text) {
        Require.present("table", text);
        int dot = text.indexOf('.');
        return dot < 0 ? new TableName(null, text) : new TableName(text.substring(0, dot), text.substring(dot + 1));
    }

    /** The same table, in this schema. */
    public TableName in(String schema) {
        return new TableName(schema, name);
    }

    private static void check(String what, String part) {
        if (!PART.matcher(part).matches()) {
            throw new IllegalArgumentException(what + " must be letters, digits and underscores, not start with a"
                    + " digit and have at most 63 characters, was \"" + part + "\"");
        }
    }

    @Override
    public String toString() {
        return schema == null ? name : schema + "." + name;
    }
}
