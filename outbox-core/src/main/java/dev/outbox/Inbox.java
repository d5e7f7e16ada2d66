package dev.outbox;

import dev.outbox.delivery.PollerBuilder;
import dev.outbox.internal.Require;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Recognises redelivered messages, so that the effects written in the same transaction happen once per consumer, source
 * and message id.
 *
 * <p>In the consumer of a broker, deduplication and effect share the caller's transaction:
 *
 * <pre>{@code
 * try (Connection tx = dataSource.getConnection()) {
 *   tx.setAutoCommit(false);
 *   if (inbox.receive(tx, Incoming.from("shop", messageId).payload(bytes)).isFirst()) {
 *     invoices.create(tx, order);
 *   }
 *   tx.commit();
 * }
 * }</pre>
 *
 * <p>As a work queue, it stores a message now and a poller handles it later; the handler's effects and the settle commit
 * together:
 *
 * <pre>{@code
 * inbox.enqueue(tx, Incoming.from("shop", messageId).topic("orders.placed").payload(json));
 * inbox.poller()
 *     .inTransaction(TransactionalDestination.byTopic().route("orders.placed", (c, item) -> invoices.create(c, item)))
 *     .start();
 * }</pre>
 *
 * <p>Thread-safe; one instance per table and consumer serves the whole application.
 */
public interface Inbox extends WorkQueue {
    /**
     * Records the arrival of a message in this transaction, in one round trip. Never commits or rolls back: if the
     * transaction rolls back, the record goes too. The record keeps identity and hash, not the content, and no poller
     * ever claims it.
     *
     * <p>If another open transaction has recorded the same message, this call waits until that transaction ends, because it
     * may roll back. It waits for the lock timeout at most, and then throws a retryable exception.
     *
     * @return whether the message came for the first time; then the caller writes its effect in this transaction
     * @throws ConflictException if the id is known with another hash, see {@link OnConflict}; the transaction can still
     *     be committed. Keep the new message where an operator finds it, and acknowledge it: a retry cannot help. Do not
     *     {@link #markDead} it, because the record belongs to the first message
     * @throws OutboxException if the connection cannot be used (auto-commit, closed, read-only), the wait took too long,
     *     or the database refused; {@link OutboxException#isRetryable()} says whether a new transaction helps
     * @throws IllegalArgumentException if it has neither payload nor hash, or has a topic, key, due time or priority;
     *     nothing was sent
     */
    Receipt receive(Connection tx, Incoming incoming);

    /**
     * As {@link #receive(Connection, Incoming)}; if the message came for the first time, the effect runs as well. What the
     * effect throws reaches the caller unchanged; the caller rolls back.
     */
    default <X extends Exception> Receipt receive(Connection tx, Incoming incoming, Effect<X> effect) throws X {
        Require.present("effect", effect);
        Receipt receipt = receive(tx, incoming);
        if (receipt.isFirst()) {
            effect.in(tx);
        }
        return receipt;
    }

    /**
     * Stores a message in this transaction, in one round trip, for a poller to handle later, unless the message is known
     * already. Waits and throws as {@link #receive(Connection, Incoming)} does. A redelivery changes neither the content
     * nor the order, due time or attempts of the stored message.
     *
     * @throws IllegalArgumentException if it has no topic or no payload, or cannot be stored; nothing was sent
     */
    Receipt enqueue(Connection tx, Incoming incoming);

    /**
     * Stores these messages in this transaction, in their order: in one round trip, or in several if the same message is
     * among them more than once.
     *
     * @return the receipt of each message, in the order of the call
     * @throws ConflictException for the first message that conflicts, see {@link OnConflict}; all messages without a
     *     conflict are stored, and the transaction can still be committed to keep them
     */
    List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming);

    /** This inbox for call sites that have no connection at hand. */
    default BoundInbox in(CurrentTransaction current) {
        return new BoundInbox(this, Require.present("current", current));
    }

    /** The record of a message; empty if the message never came or its record was purged. */
    Optional<InboxRecord> get(String source, String messageId);

    /**
     * Gives up a message in this transaction: its record becomes Dead with this reason, and stays. Use it in a loop of
     * your own, for a message that {@link #receive(Connection, Incoming)} has recorded and whose effect can never
     * succeed. Call it only if the receive in the same transaction was the first one. The record of an earlier receive
     * stands for an effect that is committed, and this method cannot distinguish the two.
     *
     * <p>If a poller has leased the work item, the poller loses the lease, and the effects of its handler roll back. A
     * handler does not call this method: it throws {@link PermanentFailureException}. An item that is given up here
     * never blocks its key, whatever {@link OnDead} says.
     *
     * @param reason kept as the last error; must not contain the payload
     * @return false if there is no such record, a handler has finished it, or it is Dead already
     */
    boolean markDead(Connection tx, String source, String messageId, String reason);

    /**
     * Makes a Dead work item Ready again, due now, with its attempts reset. {@link PollerBuilder#maxAge} counts from now
     * too, except in a table in phase 0 of its migration, which only keeps the time at which the item was stored.
     *
     * <p>An item that blocks its key keeps its place. If the key has gone on without it, PostgreSQL moves it to the
     * end of the key: like an enqueue, the requeue waits for open transactions that stored messages of the key. On SQL
     * Server the item keeps its place.
     *
     * @throws OutboxException if there is no such Dead item, or it came longer ago than the retention, so that other
     *     consumers may no longer recognise the messages that its handler sends. {@link #forceRequeue} requeues it
     *     anyway.
     */
    void requeue(String source, String messageId);

    /**
     * As {@link #requeue}, however long ago the message came. It removes a Dead record of {@link #receive(Connection,
     * Incoming)}, because no handler would take it: the message counts as new when it comes again.
     *
     * @throws OutboxException if there is no such message, or it is not Dead
     */
    void forceRequeue(String source, String messageId);
}
