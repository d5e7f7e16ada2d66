package dev.outbox.testkit;

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

/**
 * Passes every call on to another inbox. Override what your test wants to watch, to delay or to break. Thread-safe if the
 * other one is.
 */
public abstract class ForwardingInbox implements Inbox {
    private final Inbox inbox;

    /** @param inbox the one that is called */
    protected ForwardingInbox(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    public Receipt receive(Connection tx, Incoming incoming) {
        return inbox.receive(tx, incoming);
    }

    @Override
    public Receipt enqueue(Connection tx, Incoming incoming) {
        return inbox.enqueue(tx, incoming);
    }

    @Override
    public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
        return inbox.enqueueAll(tx, incoming);
    }

    @Override
    public Optional<InboxRecord> get(String source, String messageId) {
        return inbox.get(source, messageId);
    }

    @Override
    public boolean markDead(Connection tx, String source, String messageId, String reason) {
        return inbox.markDead(tx, source, messageId, reason);
    }

    @Override
    public void requeue(String source, String messageId) {
        inbox.requeue(source, messageId);
    }

    @Override
    public void forceRequeue(String source, String messageId) {
        inbox.forceRequeue(source, messageId);
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return inbox.waking(dataSource);
    }

    @Override
    public void wakeUp() {
        inbox.wakeUp();
    }

    @Override
    public PollerBuilder poller() {
        return inbox.poller();
    }

    @Override
    public Source source() {
        return inbox.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return inbox.purge(olderThan);
    }
}
