package dev.outbox.delivery.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.outbox.event.OutboxEvent;
import dev.outbox.event.OutboxListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EmitterTest {
    private final List<String> heard = new ArrayList<>();

    @Test
    void allAreToldOfOneEventInOrder() {
        AtomicInteger made = new AtomicInteger();
        Emitter emitter = new Emitter(List.of(e -> heard.add("a"), e -> heard.add("b")));

        emitter.emit(() -> {
            made.incrementAndGet();
            return new OutboxEvent.Purged(1);
        });

        assertThat(heard).containsExactly("a", "b");
        assertThat(made).hasValue(1);
    }

    @Test
    void withoutAListenerNoEventIsMade() {
        new Emitter(List.of()).emit(() -> {
            throw new AssertionError("nobody listens, but an event was made");
        });
    }

    @Test
    void aListenerThatFailsHarmsNeitherTheOthersNorTheCaller() {
        OutboxListener broken = event -> {
            throw new IllegalStateException("broken");
        };
        Emitter emitter = new Emitter(List.of(broken, e -> heard.add("b"), broken, e -> heard.add("d")));

        assertThatCode(() -> emitter.emit(() -> new OutboxEvent.Purged(1))).doesNotThrowAnyException();

        assertThat(heard).containsExactly("b", "d");
    }

    @Test
    void anErrorOfAListenerHarmsNobodyEither() {
        OutboxListener broken = event -> {
            throw new OutOfMemoryError("heap");
        };
        Emitter emitter = new Emitter(List.of(broken, e -> heard.add("b")));

        assertThatCode(() -> emitter.emit(() -> new OutboxEvent.Purged(1))).doesNotThrowAnyException();

        assertThat(heard).containsExactly("b");
    }

    @Test
    void anEventThatCannotBeMadeHarmsNobody() {
        Emitter emitter = new Emitter(List.of(e -> heard.add("a")));

        assertThatCode(() -> emitter.emit(() -> {
                    throw new OutOfMemoryError("heap");
                }))
                .doesNotThrowAnyException();

        assertThat(heard).isEmpty();
    }

    @Test
    void theListIsCopied() {
        List<OutboxListener> listeners = new ArrayList<>(List.of(e -> heard.add("a")));
        Emitter emitter = new Emitter(listeners);

        listeners.add(e -> heard.add("late"));
        emitter.emit(() -> new OutboxEvent.Purged(1));

        assertThat(heard).containsExactly("a");
    }
}
