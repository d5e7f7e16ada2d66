package dev.outbox.examples;

import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.TestSql;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.sql.DataSource;

/** A database with the table of {@link SimpleTableSource}. */
final class EventsTable {
    final DataSource dataSource = EmbeddedDatabase.create().pool(4);
    private final TestSql sql = TestSql.on(dataSource);

    EventsTable() {
        try (InputStream script = EventsTable.class.getResourceAsStream("outbox_events.sql")) {
            execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void insert(String entity, int sequence) {
        sql.execute(
                "INSERT INTO outbox_events (id, entity_id, sequence, message) VALUES (?, ?, ?, ?)",
                entity + "-" + sequence,
                entity,
                sequence,
                String.valueOf(sequence));
    }

    /** The events that are not sent yet: their entity and their message. */
    List<String> unsent() {
        return query("SELECT entity_id || ' ' || message FROM outbox_events WHERE sent_at IS NULL"
                + " ORDER BY entity_id, sequence");
    }

    List<String> query(String query) {
        return sql.query(query);
    }

    void execute(String statement) {
        sql.execute(statement);
    }
}
