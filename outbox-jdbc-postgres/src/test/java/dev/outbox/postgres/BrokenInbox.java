package dev.outbox.postgres;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.testkit.ForwardingInbox;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;

/** An honest inbox, whose subclasses change one of its calls. */
class BrokenInbox extends ForwardingInbox {
    final Inbox honest;
    final DataSource dataSource;

    BrokenInbox(Inbox honest, DataSource dataSource) {
        super(honest);
        this.honest = honest;
        this.dataSource = dataSource;
    }

    static final class EverythingIsFirst extends BrokenInbox {
        EverythingIsFirst(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public Receipt receive(Connection tx, Incoming incoming) {
            Receipt receipt = honest.receive(tx, incoming);
            return new Receipt(Kind.FIRST, receipt.firstSeen(), receipt.lastSeen(), receipt.receipts());
        }
    }

    static final class ReceivesOnAConnectionOfItsOwn extends BrokenInbox {
        ReceivesOnAConnectionOfItsOwn(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public Receipt receive(Connection tx, Incoming incoming) {
            return honest.transaction(dataSource, own -> honest.receive(own, incoming));
        }
    }

    static final class NoHash extends BrokenInbox {
        NoHash(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public Receipt receive(Connection tx, Incoming incoming) {
            return honest.receive(tx, incoming.hash(new byte[Incoming.HASH_LENGTH]));
        }
    }

    static final class OneSource extends BrokenInbox {
        OneSource(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public Receipt receive(Connection tx, Incoming incoming) {
            return honest.receive(tx, Incoming.from("any", incoming.messageId()).hash(new byte[Incoming.HASH_LENGTH]));
        }
    }

    static final class StoresBackwards extends BrokenInbox {
        StoresBackwards(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
            List<Incoming> backwards = new ArrayList<>(incoming);
            Collections.reverse(backwards);
            List<Receipt> receipts = new ArrayList<>(honest.enqueueAll(tx, backwards));
            Collections.reverse(receipts);
            return receipts;
        }
    }

    static final class StopsAtAConflict extends BrokenInbox {
        StopsAtAConflict(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
            return incoming.stream().map(one -> honest.enqueue(tx, one)).toList();
        }
    }

    static final class GivesUpAtOnce extends BrokenInbox {
        GivesUpAtOnce(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public boolean markDead(Connection tx, String source, String messageId, String reason) {
            return honest.transaction(dataSource, own -> honest.markDead(own, source, messageId, reason));
        }
    }

    static final class RequeuesAnyAge extends BrokenInbox {
        RequeuesAnyAge(Inbox honest, DataSource dataSource) {
            super(honest, dataSource);
        }

        @Override
        public void requeue(String source, String messageId) {
            honest.forceRequeue(source, messageId);
        }
    }
}
