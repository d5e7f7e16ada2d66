package dev.outbox.testkit.poller;

import dev.outbox.event.OutboxEvent;
import dev.outbox.event.OutboxListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers every event. */
final class Events implements OutboxListener {
    private final List<OutboxEvent> all = new CopyOnWriteArrayList<>();

    @Override
    public void on(OutboxEvent event) {
        all.add(event);
    }

    <T extends OutboxEvent> List<T> of(Class<T> kind) {
        return all.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    int count(Class<? extends OutboxEvent> kind) {
        return of(kind).size();
    }

    /** The ids of all items whose lease was reported lost. */
    List<String> lost() {
        return of(OutboxEvent.LeaseLost.class).stream()
                .flatMap(event -> event.items().stream())
                .map(item -> item.id())
                .toList();
    }
}
