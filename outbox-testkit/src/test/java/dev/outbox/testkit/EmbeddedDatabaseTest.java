package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class EmbeddedDatabaseTest {
    private static String ask(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(sql)) {
            answer.next();
            return answer.getString(1);
        }
    }

    private static String ask(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return ask(connection, sql);
        }
    }

    @Test
    void everyDatabaseIsFreshAndOnTheSameServer() throws SQLException {
        try (EmbeddedDatabase one = EmbeddedDatabase.create();
                EmbeddedDatabase two = EmbeddedDatabase.create()) {
            try (Connection connection = one.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE only_in_one (id int)");
            }

            assertThat(ask(one.dataSource(), "SELECT to_regclass('only_in_one')"))
                    .isEqualTo("only_in_one");
            assertThat(ask(two.dataSource(), "SELECT to_regclass('only_in_one')"))
                    .isNull();
            assertThat(ask(one.dataSource(), "SELECT inet_server_port()"))
                    .isEqualTo(ask(two.dataSource(), "SELECT inet_server_port()"));
        }
    }

    @Test
    void theUrlIsEnoughToConnect() throws SQLException {
        try (EmbeddedDatabase database = EmbeddedDatabase.create();
                Connection connection = DriverManager.getConnection(database.jdbcUrl())) {
            assertThat(ask(connection, "SELECT current_database()"))
                    .isEqualTo(ask(database.dataSource(), "SELECT current_database()"));
            assertThat(ask(connection, "SELECT current_user")).isEqualTo(database.user());
        }
    }

    @Test
    void closingDropsTheDatabaseAlthoughSomebodyIsConnected() throws SQLException {
        EmbeddedDatabase database = EmbeddedDatabase.create();
        HikariDataSource pool = database.pool(2);
        Connection connection = database.dataSource().getConnection();
        assertThat(ask(pool, "SELECT 1")).isEqualTo("1");

        database.close();

        assertThat(pool.isClosed()).isTrue();
        assertThatThrownBy(() -> ask(connection, "SELECT 1")).isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> database.dataSource().getConnection())
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("does not exist");
    }
}
