package dev.outbox.torture;

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

/** Does what the honest outbox does; a mutant overrides what it breaks. */
class ForwardingOutbox implements Outbox {
    private final Outbox honest;

    ForwardingOutbox(Outbox honest) {
        this.honest = honest;
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return honest.enqueue(tx, message);
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return honest.enqueueAll(tx, messages);
    }

    @Override
    public Stage stage() {
        return honest.stage();
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
