package dev.outbox.jdbc.internal.queue;

import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.Receipt;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.inbox.Arrival;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.inbox.ReceiveStatements;
import dev.outbox.jdbc.internal.inbox.Reception;
import dev.outbox.jdbc.internal.inbox.Redelivery;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An inbox in a table, for one consumer, whatever the database. A call checks what has arrived, and then sends one statement
 * of the database on the caller's connection. Thread-safe.
 *
 * @param <T> what the database knows of a table
 */
final class TableInbox<T extends LiveTable.Seen> extends TableQueue<T> implements Inbox {
    private final Supplier<ReceiveStatements> receive;
    private final Supplier<InboxRecords> records;
    private final Reception reception;
    private final Redelivery redelivery;

    TableInbox(DatabaseStatements<T> statements, TableSettings settings, InboxSettings inbox) {
        super(statements, settings, inbox.consumer());
        this.receive = table().per(found -> statements.receive(found, settings, inbox.lockTimeout()));
        this.records = table().per(found ->
                new InboxRecords(found.name(), connections(), settings.retention(), statements.records(found)));
        this.reception = new Reception(
                inbox.consumer(), inbox.onConflict(), settings.rules(), new Emitter(settings.listeners()));
        this.redelivery = inbox.redelivery();
    }

    @Override
    public Receipt receive(Connection tx, Incoming incoming) {
        Require.present("incoming", incoming);
        return inTransaction("receive into", tx, () -> {
            ReceiveStatements statements = receive.get();
            Arrival arrival = reception.arrival(incoming);
            statements.check(arrival);
            CallersTransaction.check("receive", tx);
            List<Arrival> arrivals = List.of(arrival);
            return reception
                    .answer(arrivals, Reception.receipts(arrivals, statements.receive(tx, arrival)))
                    .get(0);
        });
    }

    @Override
    public Receipt enqueue(Connection tx, Incoming incoming) {
        return enqueueAll(tx, List.of(Require.present("incoming", incoming))).get(0);
    }

    @Override
    public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
        List<Incoming> all = new ArrayList<>(Require.present("incoming", incoming));
        all.forEach(one -> Require.present("incoming", one));
        return inTransaction("enqueue into", tx, () -> store(tx, all));
    }

    private List<Receipt> store(Connection tx, List<Incoming> incoming) throws SQLException {
        ReceiveStatements statements = receive.get();
        List<Arrival> arrivals = reception.arrivals(incoming);
        arrivals.forEach(statements::check);
        CallersTransaction.check("enqueue", tx);
        Map<Arrival, Receipt> receipts = new HashMap<>();
        for (List<Arrival> round : Reception.rounds(arrivals)) {
            receipts.putAll(Reception.receipts(round, statements.enqueue(tx, round)));
        }
        stored(tx, Reception.stored(arrivals, receipts));
        return reception.answer(arrivals, receipts);
    }

    @Override
    public Optional<InboxRecord> get(String source, String messageId) {
        return table().adapting(() -> records.get().get(source, messageId));
    }

    @Override
    public boolean markDead(Connection tx, String source, String messageId, String reason) {
        return inTransaction("markDead in", tx, () -> records.get().markDead(tx, source, messageId, reason));
    }

    @Override
    public void requeue(String source, String messageId) {
        requeue(source, messageId, false);
    }

    @Override
    public void forceRequeue(String source, String messageId) {
        requeue(source, messageId, true);
    }

    private void requeue(String source, String messageId, boolean forced) {
        table().adapting(() -> {
            records.get().requeue(source, messageId, forced);
            return true;
        });
        wakeUp();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if that is shorter than {@link InboxOptions#maxRedelivery}
     */
    @Override
    public long purge(Duration olderThan) {
        redelivery.check("olderThan", Require.present("olderThan", olderThan));
        return super.purge(olderThan);
    }
}
