package dev.outbox.testkit;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Stage;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import javax.sql.DataSource;

/**
 * Passes every call on to another outbox. Override what your test wants to watch, to delay or to break: an enqueue that
 * fails, say. Thread-safe if the other one is.
 */
public abstract class ForwardingOutbox implements Outbox {
    private final Outbox outbox;

    /** @param outbox the one that is called */
    protected ForwardingOutbox(Outbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return outbox.enqueue(tx, message);
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return outbox.enqueueAll(tx, messages);
    }

    @Override
    public Stage stage() {
        return outbox.stage();
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return outbox.waking(dataSource);
    }

    @Override
    public void wakeUp() {
        outbox.wakeUp();
    }

    @Override
    public PollerBuilder poller() {
        return outbox.poller();
    }

    @Override
    public Source source() {
        return outbox.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return outbox.purge(olderThan);
    }
}
