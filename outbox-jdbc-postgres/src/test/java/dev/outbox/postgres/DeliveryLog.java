package dev.outbox.postgres;

import dev.outbox.WorkItem;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A consumer in the database: every delivery, and the effect of a message, which it has once. */
final class DeliveryLog {
    private final DataSource dataSource;
    private final String table;

    /** @param outbox the outbox table it belongs to */
    DeliveryLog(DataSource dataSource, String outbox) {
        this.dataSource = dataSource;
        this.table = outbox + "_deliveries";
    }

    DeliveryLog create() {
        execute("CREATE TABLE " + table + " (place bigserial PRIMARY KEY, message_id text NOT NULL, message_key text,"
                + " attempt int NOT NULL, worker text NOT NULL)");
        execute("CREATE TABLE " + table + "_effects (message_id text PRIMARY KEY)");
        return this;
    }

    void record(WorkItem item, String worker) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement("WITH effect AS (INSERT INTO " + table
                        + "_effects VALUES (?) ON CONFLICT DO NOTHING) INSERT INTO " + table
                        + " (message_id, message_key, attempt, worker) VALUES (?, ?, ?, ?)")) {
            insert.setString(1, item.messageId());
            insert.setString(2, item.messageId());
            insert.setString(3, item.key());
            insert.setInt(4, item.attempt());
            insert.setString(5, worker);
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Message ids in the order this worker delivered them. */
    List<String> by(String worker) {
        return ids("SELECT message_id FROM " + table + " WHERE worker = ? ORDER BY place", worker);
    }

    /** Message ids of this key in the order this worker delivered them. */
    List<String> by(String worker, String key) {
        return ids(
                "SELECT message_id FROM " + table + " WHERE worker = ? AND message_key = ? ORDER BY place",
                worker,
                key);
    }

    List<String> effects() {
        return ids("SELECT message_id FROM " + table + "_effects");
    }

    private List<String> ids(String sql, String... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement query = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                query.setString(i + 1, parameters[i]);
            }
            List<String> ids = new ArrayList<>();
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getString(1));
                }
            }
            return ids;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void execute(String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
