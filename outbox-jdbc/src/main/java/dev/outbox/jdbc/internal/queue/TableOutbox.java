package dev.outbox.jdbc.internal.queue;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Stage;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.internal.CollectingStage;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.enqueue.EnqueueStatements;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An outbox in a table, whatever the database. A call checks and encodes the messages, and then sends one statement of the
 * database on the caller's connection. Thread-safe.
 *
 * @param <T> what the database knows of a table
 */
final class TableOutbox<T extends LiveTable.Seen> extends TableQueue<T> implements Outbox {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final Supplier<EnqueueStatements> enqueue;
    private final MessageRow.Rules rules;
    private final Emitter emitter;

    TableOutbox(DatabaseStatements<T> statements, TableSettings settings) {
        super(statements, settings, null);
        this.enqueue = table().per(found -> statements.enqueue(found, settings));
        this.rules = settings.rules();
        this.emitter = new Emitter(settings.listeners());
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return store(tx, List.of(Require.present("message", message)));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return store(tx, new ArrayList<>(Require.present("messages", messages)));
    }

    @Override
    public Stage stage() {
        return new CollectingStage(this, message -> row(message, enqueue.get()).message());
    }

    private MessageRow row(Message message, EnqueueStatements statements) {
        return statements.fit(MessageRow.of(message, rules));
    }

    private Enqueued store(Connection tx, List<Message> messages) {
        return inTransaction("enqueue into", tx, () -> {
            EnqueueStatements statements = enqueue.get();
            List<MessageRow> rows =
                    messages.stream().map(message -> row(message, statements)).toList();
            CallersTransaction.check("enqueue", tx);
            return rows.isEmpty() ? new Enqueued(List.of(), List.of()) : answer(tx, rows, statements.insert(tx, rows));
        });
    }

    /** Of several messages with the same id in one call, the first is the one that was stored. */
    private Enqueued answer(Connection tx, List<MessageRow> rows, Set<UUID> ids) throws SQLException {
        List<Message> stored = new ArrayList<>();
        List<String> storedIds = new ArrayList<>();
        List<String> alreadyThere = new ArrayList<>();
        for (MessageRow row : rows) {
            if (ids.remove(row.id())) {
                row.warnIfLarge(rules, LOG);
                stored.add(row.message());
                storedIds.add(row.messageId());
            } else {
                alreadyThere.add(row.messageId());
            }
        }
        if (!stored.isEmpty()) {
            emitter.emit(() -> new OutboxEvent.Enqueued(List.copyOf(stored)));
        }
        stored(tx, stored);
        return new Enqueued(storedIds, alreadyThere);
    }
}
