package dev.outbox.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FirstMessageIT {
    /** As the tutorial has its reader look. */
    private static final String SELECT = """
            SELECT sequence, topic, message_key, status, attempt_count, processed_by FROM outbox ORDER BY sequence;
            """;

    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void theTutorialDeliversItsMessage() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
            FirstMessage.main(new String[] {postgres.getJdbcUrl("postgres", "postgres")});

            try (Connection connection = postgres.getPostgresDatabase().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(SELECT)) {
                assertThat(row.next()).isTrue();
                assertThat(row.getString("topic")).isEqualTo("orders.placed");
                assertThat(row.getInt("status")).isEqualTo(2);
                assertThat(row.getInt("attempt_count")).isEqualTo(1);
                assertThat(row.next()).isFalse();
            }
        }
    }
}
