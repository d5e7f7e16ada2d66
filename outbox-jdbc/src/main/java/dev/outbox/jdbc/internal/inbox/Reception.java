package dev.outbox.jdbc.internal.inbox;

import dev.outbox.ConflictException;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.internal.CoreAccess;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Messages that come into an inbox: told apart, taken in by the database's own statements, and answered. Thread-safe. */
public final class Reception {
    private final String consumer;
    private final MessageRow.Rules rules;
    private final OnConflict onConflict;
    private final Emitter emitter;
    private final Logger log;

    public Reception(String consumer, MessageRow.Rules rules, OnConflict onConflict, Emitter emitter, Logger log) {
        this.consumer = consumer;
        this.rules = rules;
        this.onConflict = onConflict;
        this.emitter = emitter;
        this.log = log;
    }

    /** What tells messages apart within one consumer. */
    public record Identity(String source, String messageId) {}

    /**
     * What is known of a message that came.
     *
     * @param conflict whether another message is known by this id; one whose hash is not known fits any
     * @param receipts how often it came, this time included; 1 means that it is new
     */
    public record Known(boolean conflict, int receipts, Instant firstSeen, Instant lastSeen) {
        private Receipt receipt() {
            Kind kind = conflict ? Kind.CONFLICT : receipts == 1 ? Kind.FIRST : Kind.DUPLICATE;
            return new Receipt(kind, firstSeen, lastSeen, receipts);
        }
    }

    /** A work item on its way to the table. */
    public static final class Arrival {
        private final Identity identity;
        private final byte[] hash;
        private final MessageRow row;

        private Arrival(Incoming incoming, MessageRow.Rules rules) {
            this.identity = identify(incoming);
            this.row = MessageRow.withNewId(incoming.message(), rules);
            this.hash = incoming.hash();
        }

        public Identity identity() {
            return identity;
        }

        public byte[] hash() {
            return hash;
        }

        public MessageRow row() {
            return row;
        }
    }

    /** Stores the record of a message that is new, and counts one that is not. */
    public interface Receiving {
        @Nullable
        Known take(Identity identity, byte[] hash) throws SQLException;
    }

    /** Stores what is new of some work items, each once, and counts the others. */
    public interface Enqueueing {
        Map<Identity, Known> take(List<Arrival> sent) throws SQLException;
    }

    /** The hashes of what is sent, in its order. */
    public static Map<Identity, byte[]> hashes(List<Arrival> sent) {
        Map<Identity, byte[]> hashes = new LinkedHashMap<>();
        sent.forEach(arrival -> hashes.put(arrival.identity, arrival.hash));
        return hashes;
    }

    /**
     * Reads what a row of the answer says of a message.
     *
     * @param hashes of what was sent
     */
    public static void read(ResultSet row, Map<Identity, byte[]> hashes, Map<Identity, Known> known)
            throws SQLException {
        Identity identity = new Identity(row.getString("source"), row.getString("message_id"));
        byte[] hash = row.getBytes("hash");
        known.put(
                identity,
                new Known(
                        hash != null && !Arrays.equals(hash, hashes.get(identity)),
                        row.getInt("receipt_count"),
                        Timestamps.read(row, "first_seen_on"),
                        Timestamps.read(row, "last_seen_on")));
    }

    /** A record that was there, and was purged before it could be counted. */
    private static Known present(Identity identity, @Nullable Known known) {
        if (known == null) {
            throw new OutboxException(
                    "the record of message " + identity.messageId() + " of " + identity.source()
                            + " was removed while the message came again; roll back and try again",
                    new NoSuchElementException("no record"),
                    true);
        }
        return known;
    }

    public Receipt receive(Connection tx, Incoming incoming, Receiving receiving) throws SQLException {
        Identity identity = identify(incoming);
        CoreAccess.checkReceivable(incoming);
        byte[] hash = incoming.hash();
        CallersTransaction.check("receive", tx);
        Receipt receipt = present(identity, receiving.take(identity, hash)).receipt();
        tell(identity, receipt);
        return answer(identity, receipt);
    }

    /**
     * In rounds, in each of which a message is at most once: the database updates no row twice in a statement. A
     * conflict is thrown last, for the others are stored all the same and the caller may commit them.
     *
     * @param check refuses what the table cannot store, before anything is sent
     * @param ifStored run if any message is new
     */
    public List<Receipt> enqueue(
            Connection tx, List<Incoming> incoming, Consumer<Message> check, Runnable ifStored, Enqueueing enqueueing)
            throws SQLException {
        List<Arrival> arrivals =
                incoming.stream().map(one -> new Arrival(one, rules)).toList();
        arrivals.forEach(arrival -> check.accept(arrival.row.message()));
        CallersTransaction.check("enqueue", tx);
        Receipt[] receipts = new Receipt[arrivals.size()];
        for (Map<Identity, Integer> round : rounds(arrivals)) {
            Map<Identity, Known> known =
                    enqueueing.take(round.values().stream().map(arrivals::get).toList());
            round.forEach((identity, place) ->
                    receipts[place] = present(identity, known.get(identity)).receipt());
        }
        List<Message> stored = new ArrayList<>();
        for (int i = 0; i < receipts.length; i++) {
            Arrival arrival = arrivals.get(i);
            if (receipts[i].isFirst()) {
                arrival.row.warnIfLarge(rules, log);
                stored.add(arrival.row.message());
            }
            tell(arrival.identity, receipts[i]);
        }
        if (!stored.isEmpty()) {
            emitter.emit(() -> new OutboxEvent.Enqueued(List.copyOf(stored)));
            ifStored.run();
        }
        List<Receipt> answers = new ArrayList<>();
        for (int i = 0; i < receipts.length; i++) {
            answers.add(answer(arrivals.get(i).identity, receipts[i]));
        }
        return answers;
    }

    /** Where each message of a round is among the arrivals. */
    private static List<Map<Identity, Integer>> rounds(List<Arrival> arrivals) {
        List<Map<Identity, Integer>> rounds = new ArrayList<>();
        Map<Identity, Integer> seen = new HashMap<>();
        for (int i = 0; i < arrivals.size(); i++) {
            Identity identity = arrivals.get(i).identity;
            int round = seen.merge(identity, 1, Integer::sum) - 1;
            if (round == rounds.size()) {
                rounds.add(new LinkedHashMap<>());
            }
            rounds.get(round).put(identity, i);
        }
        return rounds;
    }

    private static Identity identify(Incoming incoming) {
        StorableText.check("source", incoming.source());
        StorableText.check("messageId", incoming.messageId());
        return new Identity(incoming.source(), incoming.messageId());
    }

    private void tell(Identity identity, Receipt receipt) {
        if (receipt.kind() != Kind.CONFLICT) {
            emitter.emit(() -> new OutboxEvent.Received(consumer, identity.source, identity.messageId, receipt));
            return;
        }
        log.warn(
                "consumer {} has another message {} from {}: the hashes differ; this one was neither stored nor"
                        + " processed",
                consumer,
                identity.messageId,
                identity.source);
        emitter.emit(() -> new OutboxEvent.Conflict(consumer, identity.source, identity.messageId, receipt));
    }

    /** Turns a conflict into what was asked for. */
    private Receipt answer(Identity identity, Receipt receipt) {
        if (receipt.kind() != Kind.CONFLICT) {
            return receipt;
        }
        return switch (onConflict) {
            case THROW -> throw new ConflictException(consumer, identity.source, identity.messageId);
            case ANSWER -> receipt;
            case DUPLICATE -> new Receipt(Kind.DUPLICATE, receipt.firstSeen(), receipt.lastSeen(), receipt.receipts());
        };
    }
}
