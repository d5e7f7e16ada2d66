package dev.outbox.jdbc.internal.inbox;

import dev.outbox.ConflictException;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to a message that an inbox receives, before and after the statement of the database: first it is checked and
 * becomes an {@link Arrival}; when the database knows whether it is new, the arrival is answered. Thread-safe.
 */
public final class Reception {
    private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);

    private final String consumer;
    private final OnConflict onConflict;
    private final MessageRow.Rules rules;
    private final Emitter emitter;

    public Reception(String consumer, OnConflict onConflict, MessageRow.Rules rules, Emitter emitter) {
        this.consumer = consumer;
        this.onConflict = onConflict;
        this.rules = rules;
        this.emitter = emitter;
    }

    /** A message to be recorded. */
    public Arrival arrival(Incoming incoming) {
        return Arrival.toRecord(incoming);
    }

    /** Messages to be stored for a handler. */
    public List<Arrival> arrivals(List<Incoming> incoming) {
        return incoming.stream().map(one -> Arrival.toStore(one, rules)).toList();
    }

    /** Rounds with each message at most once, because a database updates no row twice in one statement. */
    public static List<List<Arrival>> rounds(List<Arrival> arrivals) {
        List<List<Arrival>> rounds = new ArrayList<>();
        Map<Identity, Integer> seen = new HashMap<>();
        for (Arrival arrival : arrivals) {
            int round = seen.merge(arrival.identity(), 1, Integer::sum) - 1;
            if (round == rounds.size()) {
                rounds.add(new ArrayList<>());
            }
            rounds.get(round).add(arrival);
        }
        return rounds;
    }

    /** The receipts of some arrivals, by what the database knows of their messages. */
    public static Map<Arrival, Receipt> receipts(List<Arrival> arrivals, Map<Identity, Known> known) {
        Map<Arrival, Receipt> receipts = new HashMap<>();
        for (Arrival arrival : arrivals) {
            Known message = known.get(arrival.identity());
            if (message == null) {
                throw new OutboxException(
                        "the record of message " + arrival.identity().messageId() + " of "
                                + arrival.identity().source()
                                + " was removed while the message came again; roll back and try again",
                        new NoSuchElementException("no record"),
                        true);
            }
            receipts.put(arrival, message.receipt());
        }
        return receipts;
    }

    /** The work items that are new. */
    public static List<Message> stored(List<Arrival> arrivals, Map<Arrival, Receipt> receipts) {
        return newItems(arrivals, receipts).map(MessageRow::message).toList();
    }

    private static Stream<MessageRow> newItems(List<Arrival> arrivals, Map<Arrival, Receipt> receipts) {
        return arrivals.stream()
                .filter(arrival -> arrival.isToStore() && of(arrival, receipts).isFirst())
                .map(Arrival::row);
    }

    /**
     * Tells listeners of the arrivals, and answers each. A conflict is thrown last: the other messages are stored all the
     * same, and the caller may commit them.
     */
    public List<Receipt> answer(List<Arrival> arrivals, Map<Arrival, Receipt> receipts) {
        newItems(arrivals, receipts).forEach(row -> row.warnIfLarge(rules, LOG));
        arrivals.forEach(arrival -> tell(arrival.identity(), of(arrival, receipts)));
        List<Message> stored = stored(arrivals, receipts);
        if (!stored.isEmpty()) {
            emitter.emit(() -> new OutboxEvent.Enqueued(stored));
        }
        return arrivals.stream()
                .map(arrival -> answer(arrival.identity(), of(arrival, receipts)))
                .toList();
    }

    private static Receipt of(Arrival arrival, Map<Arrival, Receipt> receipts) {
        return Objects.requireNonNull(receipts.get(arrival));
    }

    private void tell(Identity identity, Receipt receipt) {
        if (receipt.kind() != Kind.CONFLICT) {
            emitter.emit(() -> new OutboxEvent.Received(consumer, identity.source(), identity.messageId(), receipt));
            return;
        }
        LOG.warn(
                "consumer {} already has a different message {} from {}: the hashes differ; this one was neither stored nor"
                        + " processed",
                consumer,
                identity.messageId(),
                identity.source());
        emitter.emit(() -> new OutboxEvent.Conflict(consumer, identity.source(), identity.messageId(), receipt));
    }

    /** Treats a conflict as the inbox was told to. */
    private Receipt answer(Identity identity, Receipt receipt) {
        if (receipt.kind() != Kind.CONFLICT) {
            return receipt;
        }
        return switch (onConflict) {
            case THROW -> throw new ConflictException(consumer, identity.source(), identity.messageId());
            case ANSWER -> receipt;
            case DUPLICATE -> new Receipt(Kind.DUPLICATE, receipt.firstSeen(), receipt.lastSeen(), receipt.receipts());
        };
    }
}
