package dev.outbox.torture;

import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.Receipt;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Does what the honest inbox does; a mutant overrides what it breaks. */
class ForwardingInbox implements Inbox {
    private final Inbox honest;

    ForwardingInbox(Inbox honest) {
        this.honest = honest;
    }

    @Override
    public Receipt receive(Connection tx, Incoming incoming) {
        return honest.receive(tx, incoming);
    }

    @Override
    public Receipt enqueue(Connection tx, Incoming incoming) {
        return honest.enqueue(tx, incoming);
    }

    @Override
    public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
        return honest.enqueueAll(tx, incoming);
    }

    @Override
    public Optional<InboxRecord> get(String source, String messageId) {
        return honest.get(source, messageId);
    }

    @Override
    public boolean markDead(Connection tx, String source, String messageId, String reason) {
        return honest.markDead(tx, source, messageId, reason);
    }

    @Override
    public void requeue(String source, String messageId) {
        honest.requeue(source, messageId);
    }

    @Override
    public void forceRequeue(String source, String messageId) {
        honest.forceRequeue(source, messageId);
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return honest.waking(dataSource);
    }

    @Override
    public void wakeUp() {
        honest.wakeUp();
    }

    @Override
    public PollerBuilder poller() {
        return honest.poller();
    }

    @Override
    public Source source() {
        return honest.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return honest.purge(olderThan);
    }
}
