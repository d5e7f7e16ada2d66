package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A store in memory whose time is moved by hand. */
class InMemoryFixture implements SourceFixture {
    private final ManualClock clock = new ManualClock();
    final InMemoryStore store = new InMemoryStore(clock);

    @Override
    public Source newSource() {
        return store.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) {
        return store.add(messages);
    }

    @Override
    public Optional<ItemState> find(String itemId) {
        return store.find(itemId);
    }

    @Override
    public void advance(Duration step) {
        clock.advance(step);
    }

    @Override
    public void requeue(String itemId) {
        store.requeueInPlace(itemId); // so that a Ready item can be in front of leased ones
    }

    @Override
    public Optional<AutoCloseable> lock(List<String> itemIds) {
        return Optional.of(store.lock(itemIds));
    }

    @Override
    public void close() {}
}
