package dev.outbox;

import dev.outbox.delivery.PollerBuilder;
import dev.outbox.internal.CollectingStage;
import dev.outbox.internal.CoreAccess;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Remembers what was enqueued, call by call. */
final class RecordingOutbox implements Outbox {
    final List<List<Message>> calls = new ArrayList<>();
    int wakeUps;

    @Nullable
    RuntimeException failure;

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return enqueueAll(tx, List.of(message));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        calls.add(List.copyOf(messages));
        if (failure != null) {
            throw failure;
        }
        return new Enqueued(messages.stream().map(Message::id).toList(), List.of());
    }

    @Override
    public Stage stage() {
        return new CollectingStage(this, message -> CoreAccess.serialized(message, new Greetings()));
    }

    @Override
    public void wakeUp() {
        wakeUps++;
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PollerBuilder poller() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Source source() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long purge(Duration olderThan) {
        throw new UnsupportedOperationException();
    }
}
