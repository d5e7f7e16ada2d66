package dev.outbox.delivery.internal;

import dev.outbox.event.OutboxEvent;
import dev.outbox.event.OutboxListener;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells listeners of events. An event is created only if there is a listener, and a listener that throws harms
 * neither the caller nor the other listeners.
 */
public final class Emitter {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxListener.class);

    private final List<OutboxListener> listeners;

    public Emitter(List<OutboxListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    public void emit(Supplier<OutboxEvent> event) {
        if (listeners.isEmpty()) {
            return;
        }
        OutboxEvent made;
        try {
            made = event.get();
        } catch (Throwable e) {
            LOG.warn("an event could not be created, so listeners do not receive it", e);
            return;
        }
        for (OutboxListener listener : listeners) {
            try {
                listener.on(made);
            } catch (Throwable e) {
                LOG.warn("a listener failed on {}", made.getClass().getSimpleName(), e);
            }
        }
    }
}
