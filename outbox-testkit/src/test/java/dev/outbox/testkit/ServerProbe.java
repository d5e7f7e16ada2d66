package dev.outbox.testkit;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;

/** A JVM of its own in which the server is another one: it says on which port its test database is. */
final class ServerProbe {
    private ServerProbe() {}

    public static void main(String[] arguments) throws SQLException {
        DriverManager.registerDriver(new ContainerDriver(arguments[0]));
        try (EmbeddedDatabase database = EmbeddedDatabase.create();
                Connection connection = database.dataSource().getConnection()) {
            System.out.println(connection.getMetaData().getUserName() + " " + database.jdbcUrl());
        }
    }

    /** Does what the driver of Testcontainers does, but that the container runs already. */
    private record ContainerDriver(String server) implements Driver {
        @Override
        public Connection connect(String url, Properties info) throws SQLException {
            return acceptsURL(url) ? DriverManager.getConnection(server, "test", "test") : null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.startsWith("jdbc:tc:");
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }
    }
}
