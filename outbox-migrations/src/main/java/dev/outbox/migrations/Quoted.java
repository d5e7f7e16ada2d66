package dev.outbox.migrations;

import dev.outbox.jdbc.internal.catalog.TableName;

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

    /** An anonymous block. */
    static String block(String body) {
        return "DO " + body(body);
    }

    /** The body of a function or block, in dollars that it does not itself contain. */
    static String body(String body) {
        String dollars = "$$";
        for (int number = 1; body.contains(dollars); number++) {
            dollars = "$body" + number + "$";
        }
        return dollars + "\n" + body + "\n" + dollars;
    }
}
