package dev.outbox.postgres;

import dev.outbox.Handlers;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Outcome;
import dev.outbox.PollerBuilder;
import dev.outbox.WorkItem;
import dev.outbox.WorkQueue;
import java.sql.Connection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A queue with one topic and a broker that takes what it is told to, reached in one of the forms that a poller knows.
 */
final class Delivering {
    static final String TOPIC = "orders";

    /** How the poller calls the broker. */
    enum Form {
        TO,
        TO_BATCH,
        /** A batch call that throws if one of its items fails. */
        TO_THROWING_BATCH,
        IN_TRANSACTION,
        INBOX_HANDLERS
    }

    /** What the broker does with an item; an exception means that it failed. */
    interface Broker {
        void take(WorkItem item) throws Exception;
    }

    final Set<String> received = ConcurrentHashMap.newKeySet();
    final AtomicInteger calls = new AtomicInteger();
    private final OutboxDatabase database;
    private final Form form;
    private final Broker broker;
    private final WorkQueue queue;
    final String table;

    Delivering(OutboxDatabase database, Form form, Broker broker) {
        this.database = database;
        this.form = form;
        this.broker = broker;
        boolean inbox = form == Form.INBOX_HANDLERS;
        this.table = inbox ? database.newInboxTable() : database.newTable();
        this.queue = inbox
                ? PostgresInbox.builder(database.pool())
                        .table(table)
                        .consumer("billing")
                        .build()
                : PostgresOutbox.builder(database.pool()).table(table).build();
    }

    /** A poller to the broker, still to be started. */
    PollerBuilder poller() {
        PollerBuilder poller = queue.poller();
        return switch (form) {
            case TO -> poller.to(this::take);
            case TO_BATCH ->
                poller.toBatch(items -> items.stream().map(this::outcome).toList());
            case TO_THROWING_BATCH -> poller.toBatch(this::takeAll);
            case IN_TRANSACTION -> poller.inTransaction((tx, item) -> take(item));
            case INBOX_HANDLERS -> poller.inTransaction(Handlers.on(TOPIC, (tx, item) -> take(item)));
        };
    }

    private Outcome outcome(WorkItem item) {
        try {
            take(item);
            return Outcome.done();
        } catch (Exception e) {
            return Outcome.retry(e);
        }
    }

    /** All or none. */
    private List<Outcome> takeAll(List<WorkItem> items) throws Exception {
        calls.incrementAndGet();
        for (WorkItem item : items) {
            broker.take(item);
        }
        items.forEach(item -> received.add(item.messageId()));
        return items.stream().map(item -> Outcome.done()).toList();
    }

    private void take(WorkItem item) throws Exception {
        calls.incrementAndGet();
        broker.take(item);
        received.add(item.messageId());
    }

    static Message message(String id) {
        return Message.to(TOPIC).id(id).payload("{}");
    }

    /** Stores messages in a transaction of their own, each with its id. */
    void store(List<Message> messages) {
        if (queue instanceof Outbox outbox) {
            database.commit(outbox, messages);
            return;
        }
        Inbox inbox = (Inbox) queue;
        inbox.transaction(database.pool(), tx -> {
            for (Message message : messages) {
                receive(inbox, tx, message);
            }
            return null;
        });
    }

    private static void receive(Inbox inbox, Connection tx, Message message) {
        Incoming incoming = Incoming.from("shop", String.valueOf(message.id()))
                .topic(message.topic())
                .payload(message.payload());
        inbox.enqueue(tx, message.key() == null ? incoming : incoming.key(message.key()));
    }
}
