package dev.outbox.postgres;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.WorkQueue;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.TransactionalDestination;
import java.sql.Connection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

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
    private final Consumer<PollerBuilder> destination;
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
        this.destination = destination();
    }

    /** A poller to the broker, still to be started. All of them have the same destination. */
    PollerBuilder poller() {
        PollerBuilder poller = queue.poller();
        destination.accept(poller);
        return poller;
    }

    private Consumer<PollerBuilder> destination() {
        switch (form) {
            case TO -> {
                Destination single = this::take;
                return poller -> poller.to(single);
            }
            case TO_BATCH, TO_THROWING_BATCH -> {
                BatchDestination batch = form == Form.TO_BATCH
                        ? items -> items.stream().map(this::outcome).toList()
                        : this::takeAll;
                return poller -> poller.toBatch(batch);
            }
            default -> {
                TransactionalDestination handler = (tx, item) -> take(item);
                return form == Form.IN_TRANSACTION
                        ? poller -> poller.inTransaction(handler)
                        : poller -> poller.inTransaction(
                                TransactionalDestination.byTopic().route(TOPIC, handler));
            }
        }
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
