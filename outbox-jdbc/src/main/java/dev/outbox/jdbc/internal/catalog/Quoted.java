package dev.outbox.jdbc.internal.catalog;

import dev.outbox.jdbc.Database;

/** Names as they stand in a statement. */
public final class Quoted {
    private Quoted() {}

    /** One name: {@code "outbox"} or {@code [outbox]}. */
    public static String name(Database database, String name) {
        return switch (database) {
            case POSTGRES -> postgres(name);
            case SQLSERVER -> sqlServer(name);
        };
    }

    /** A table, with its schema if it has one: {@code "billing"."outbox"} or {@code [billing].[outbox]}. */
    public static String table(Database database, TableName table) {
        return switch (database) {
            case POSTGRES -> postgres(table);
            case SQLSERVER -> sqlServer(table);
        };
    }

    public static String postgres(String name) {
        return standard(name);
    }

    /** As the standard has it and both databases understand it: {@code "outbox"}. */
    public static String standard(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    public static String postgres(TableName table) {
        return table.schema() == null
                ? postgres(table.name())
                : postgres(table.schema()) + "." + postgres(table.name());
    }

    public static String sqlServer(String name) {
        return "[" + name.replace("]", "]]") + "]";
    }

    public static String sqlServer(TableName table) {
        return table.schema() == null
                ? sqlServer(table.name())
                : sqlServer(table.schema()) + "." + sqlServer(table.name());
    }
}
