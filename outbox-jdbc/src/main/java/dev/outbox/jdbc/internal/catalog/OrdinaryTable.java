package dev.outbox.jdbc.internal.catalog;

import dev.outbox.OutboxException;

/**
 * What PostgreSQL may have under the name of a table. Rows are claimed and purged by their place, the {@code ctid}, which
 * is unique in an ordinary table only: of the partitions or children of a table, each has a row of the same place.
 */
public final class OrdinaryTable {
    private OrdinaryTable() {}

    /**
     * @param kind its {@code relkind}
     * @param hasChildren whether other tables inherit from it
     * @throws OutboxException if it is anything else than an ordinary table
     */
    public static void check(TableName name, String kind, boolean hasChildren) {
        String is = switch (kind) {
            case "r" -> hasChildren ? "has tables that inherit from it" : "";
            case "p" -> "is partitioned";
            case "v" -> "is a view";
            case "m" -> "is a materialized view";
            case "f" -> "is a foreign table";
            default -> "is not a table (relkind " + kind + ")";
        };
        if (!is.isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" " + is + ", but an outbox or inbox must be an ordinary table"
                            + " without partitions or children, because rows are found by their ctid; create one with"
                            + " outbox-migrations (postgres), or name another table");
        }
    }
}
