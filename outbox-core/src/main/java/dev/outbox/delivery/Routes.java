package dev.outbox.delivery;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A destination that picks another one by topic. Immutable; made by {@link Destination#byTopic()}.
 *
 * <pre>{@code
 * Destination.byTopic().route("orders.placed", kafka).route("mail.send", smtp)
 * }</pre>
 */
public final class Routes implements Destination {
    static final Routes NONE = new Routes(Map.of(), null);

    private final Map<String, Destination> byTopic;
    private final @Nullable Destination otherwise;

    private Routes(Map<String, Destination> byTopic, @Nullable Destination otherwise) {
        this.byTopic = byTopic;
        this.otherwise = otherwise;
    }

    /** @throws IllegalArgumentException if the topic has a route already */
    public Routes route(String topic, Destination destination) {
        Require.text("topic", topic, Message.MAX_NAME);
        Require.present("destination", destination);
        Map<String, Destination> routes = new LinkedHashMap<>(byTopic);
        if (routes.putIfAbsent(topic, destination) != null) {
            throw new IllegalArgumentException("topic " + topic + " has a route already; each topic takes one");
        }
        return new Routes(routes, otherwise);
    }

    /**
     * Where items without a route of their own go. Default: nowhere. A poller then claims only the topics with a route,
     * unless its {@link PollerBuilder#topics topics} are given; another topic among those fails and is retried.
     */
    public Routes otherwise(Destination destination) {
        return new Routes(byTopic, Require.present("destination", destination));
    }

    ByTopic routes() {
        return new ByTopic(byTopic, otherwise == null ? this : otherwise, otherwise != null);
    }

    @Override
    public void deliver(WorkItem item) throws Exception {
        Destination destination = byTopic.getOrDefault(item.topic(), otherwise);
        if (destination == null) {
            throw new IllegalStateException("no route for topic " + item.topic()
                    + "; add route(...) or otherwise(...), or restrict the poller with topics(...)");
        }
        destination.deliver(item);
    }
}
