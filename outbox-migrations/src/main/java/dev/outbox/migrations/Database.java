package dev.outbox.migrations;

import dev.outbox.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;

/** The databases there are scripts for. */
public enum Database {
    POSTGRES("PostgreSQL"),
    SQLSERVER("Microsoft SQL Server");

    private final String product;

    Database(String product) {
        this.product = product;
    }

    /**
     * What this connection leads to, as its driver says.
     *
     * @throws OutboxException if it is neither
     */
    public static Database of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        for (Database database : values()) {
            if (database.product.equals(product)) {
                return database;
            }
        }
        throw new OutboxException("there are no tables for the database \"" + product
                + "\"; use PostgreSQL or SQL Server, each with its own driver");
    }
}
