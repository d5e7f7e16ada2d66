package dev.outbox.jdbc;

import dev.outbox.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;

/** The databases that the library supports. */
public enum Database {
    POSTGRES("PostgreSQL"),
    SQLSERVER("Microsoft SQL Server");

    private final String product;

    Database(String product) {
        this.product = product;
    }

    /** The product name that the driver reports. */
    public String product() {
        return product;
    }

    /**
     * The database of this connection, as its driver reports it.
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
        throw new OutboxException("the library does not support the database \"" + product
                + "\"; use PostgreSQL or SQL Server, each with its own driver");
    }
}
