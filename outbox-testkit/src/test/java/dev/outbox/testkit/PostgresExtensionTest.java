package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every test finds the tables of the migration, and nothing that another one left. */
class PostgresExtensionTest {
    private static final AtomicInteger MIGRATIONS = new AtomicInteger();

    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        MIGRATIONS.incrementAndGet();
        execute(dataSource, "CREATE TABLE orders (id int PRIMARY KEY)");
    });

    @BeforeEach
    void placeAnOrder(DataSource dataSource) throws SQLException {
        execute(dataSource, "INSERT INTO orders VALUES (1)");
    }

    @RepeatedTest(3)
    void theTablesAreThereAndAsTheMigrationLeftThem(DataSource dataSource, EmbeddedDatabase database)
            throws SQLException {
        execute(database.dataSource(), "INSERT INTO orders VALUES (2)");

        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery("SELECT count(*) FROM orders")) {
            count.next();
            assertThat(count.getInt(1)).isEqualTo(2);
        }
        assertThat(MIGRATIONS).hasValue(1);
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
