package dev.outbox.delivery;

import dev.outbox.Message;
import dev.outbox.internal.Require;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a poller has to know of a destination that leads to others by topic: each of those has a {@link Route} of its own.
 *
 * @param destinations by the topics that have a route
 * @param otherwise stands for the destination of all other topics
 * @param takesAllTopics whether other topics have a destination too, or an answer
 */
record Routing(Map<String, ?> destinations, Object otherwise, boolean takesAllTopics) {
    /** Null if the destination is one for all topics. */
    static @Nullable Routing of(Object destination) {
        if (destination instanceof Routes routes) {
            return routes.routing();
        }
        return destination instanceof TransactionalRoutes routes ? routes.routing() : null;
    }

    /**
     * The same destinations and one more.
     *
     * @throws IllegalArgumentException if the topic has a route already
     */
    static <D> Map<String, D> with(Map<String, D> destinations, String topic, D destination) {
        Require.text("topic", topic, Message.MAX_NAME);
        Require.present("destination", destination);
        Map<String, D> all = new LinkedHashMap<>(destinations);
        if (all.putIfAbsent(topic, destination) != null) {
            throw new IllegalArgumentException("topic " + topic + " has a route already; each topic can have only one");
        }
        return Collections.unmodifiableMap(all);
    }
}
