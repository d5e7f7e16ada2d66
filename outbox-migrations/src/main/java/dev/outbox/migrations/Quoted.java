package dev.outbox.migrations;

import dev.outbox.jdbc.internal.TableName;

/** Names and values as they stand in a statement. */
final class Quoted {
    private Quoted() {}

    static String name(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    static String table(TableName name) {
        return name.schema() == null ? name(name.name()) : name(name.schema()) + "." + name(name.name());
    }

    static String text(String value) {
        return "'" + value.replace("'", "''") + "'";
    }
}
