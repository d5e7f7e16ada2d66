package dev.outbox.testkit;

import dev.outbox.Status;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * A canonical outbox table in PostgreSQL, for assertions: {@code assertThat(OutboxTable.in(dataSource))}. With {@code
 * Ack.DELETE} a delivered message leaves the table; then make the assertion on the destination instead. Immutable.
 */
public final class OutboxTable {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?");

    private final DataSource dataSource;
    private final String name;

    private OutboxTable(DataSource dataSource, String name) {
        this.dataSource = dataSource;
        this.name = name;
    }

    /** The table {@code outbox}. */
    public static OutboxTable in(DataSource dataSource) {
        return in(dataSource, "outbox");
    }

    /** @param table {@code name} or {@code schema.name} */
    public static OutboxTable in(DataSource dataSource, String table) {
        if (!NAME.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "table must be a name or schema.name of letters, digits and underscores, was " + table);
        }
        return new OutboxTable(dataSource, '"' + table.replace(".", "\".\"") + '"');
    }

    /**
     * Lets time pass without waiting: moves all times in the table back by this duration. Retries and delays come due, and
     * leases run out.
     */
    public void letPass(Duration time) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement update = connection.prepareStatement("""
                        UPDATE %s SET created_on = created_on - t, due_on = due_on - t, first_due_on = first_due_on - t,
                            locked_until = locked_until - t, processed_on = processed_on - t
                        FROM (SELECT ? * interval '1 microsecond' AS t) AS passed""".formatted(name))) {
            update.setLong(1, time.toNanos() / 1_000);
            update.executeUpdate();
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("time cannot pass in " + name + ": " + e.getMessage(), e);
        }
    }

    List<ItemRow> rows() {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement query = connection.prepareStatement("""
                        SELECT sequence, COALESCE(message_id, work_item_id::text), topic, message_key, status,
                            attempt_count, CASE WHEN status > 1 THEN dense_rank() OVER (ORDER BY processed_on) ELSE 0 END,
                            status = 0 AND COALESCE(due_on > now(), false)
                                OR status = 1 AND COALESCE(locked_until > now(), false),
                            last_error
                        FROM %s ORDER BY sequence""".formatted(name));
                ResultSet row = query.executeQuery()) {
            List<ItemRow> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(new ItemRow(
                        row.getLong(1),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        Status.ofCode(row.getInt(5)),
                        row.getInt(6),
                        row.getLong(7),
                        row.getBoolean(8),
                        row.getString(9)));
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException("the rows of " + name + " cannot be read: " + e.getMessage(), e);
        }
    }
}
