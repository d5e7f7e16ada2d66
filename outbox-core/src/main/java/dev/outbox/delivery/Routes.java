package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A destination that routes each topic to a destination of its own. Immutable; made by {@link Destination#byTopic()}.
 *
 * <pre>{@code
 * Destination.byTopic().route("orders.placed", kafka).route("mail.send", smtp)
 * }</pre>
 */
public final class Routes implements Destination {
    static final Routes NONE = new Routes(Map.of(), null);

    private final Map<String, Destination> destinations;
    private final @Nullable Destination otherwise;

    private Routes(Map<String, Destination> destinations, @Nullable Destination otherwise) {
        this.destinations = destinations;
        this.otherwise = otherwise;
    }

    /** @throws IllegalArgumentException if the topic has a route already */
    public Routes route(String topic, Destination destination) {
        return new Routes(Routing.with(destinations, topic, destination), otherwise);
    }

    /**
     * The destination of items whose topic has no route. Default: none. A poller then claims only the topics with a
     * route, unless you set its {@link PollerBuilder#topics topics}; an item of one of those topics without a route
     * fails and is retried.
     */
    public Routes otherwise(Destination destination) {
        return new Routes(destinations, Require.present("destination", destination));
    }

    Routing routing() {
        return new Routing(destinations, otherwise == null ? this : otherwise, otherwise != null);
    }

    @Override
    public void deliver(WorkItem item) throws Exception {
        Destination destination = destinations.getOrDefault(item.topic(), otherwise);
        if (destination == null) {
            throw new IllegalStateException("no route for topic " + item.topic()
                    + "; add route(...) or otherwise(...), or restrict the poller with topics(...)");
        }
        destination.deliver(item);
    }
}
