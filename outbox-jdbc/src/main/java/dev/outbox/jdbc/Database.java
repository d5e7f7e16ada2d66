package dev.outbox.jdbc;

import dev.outbox.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;

/** The databases that the library works with. */
public enum Database {
    POSTGRES("PostgreSQL"),
    SQLSERVER("Microsoft SQL Server");

    private final String product;

    Database(String product) {
        this.product = product;
    }

    /** As the driver names it. */
    public String product() {
        return product;
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
        throw new OutboxException("the library does not know the database \"" + product
                + "\"; use PostgreSQL or SQL Server, each with its own driver");
    }
}
