package dev.outbox.examples;

import dev.outbox.testkit.EmbeddedDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** A database with the table of {@link SimpleTableSource}. */
final class EventsTable {
    final DataSource dataSource = EmbeddedDatabase.create().pool(4);

    EventsTable() {
        try (InputStream sql = EventsTable.class.getResourceAsStream("outbox_events.sql")) {
            execute(new String(sql.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void insert(String entity, int sequence) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO outbox_events (id, entity_id, sequence, message) VALUES (?, ?, ?, ?)")) {
            insert.setString(1, entity + "-" + sequence);
            insert.setString(2, entity);
            insert.setLong(3, sequence);
            insert.setString(4, String.valueOf(sequence));
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException("insert failed", e);
        }
    }

    /** The events that are not sent yet: their entity and their message. */
    List<String> unsent() {
        return query("SELECT entity_id || ' ' || message FROM outbox_events WHERE sent_at IS NULL"
                + " ORDER BY entity_id, sequence");
    }

    List<String> query(String sql) {
        return Sql.query(dataSource, sql);
    }

    void execute(String sql) {
        Sql.execute(dataSource, sql);
    }
}
