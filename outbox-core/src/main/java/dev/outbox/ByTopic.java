package dev.outbox;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The destinations behind a routing destination: each of them has a {@link Route} of its own.
 *
 * @param routes what stands for the route of a topic
 * @param otherwise what stands for that of all other topics
 */
record ByTopic(Map<String, ?> routes, Object otherwise) {
    /** Null if the destination is one for all topics. */
    static @Nullable ByTopic of(Object destination) {
        if (destination instanceof Routes routes) {
            return routes.routes();
        }
        return destination instanceof Handlers handlers ? handlers.routes() : null;
    }

    Object routeOf(String topic) {
        Object route = routes.get(topic);
        return route == null ? otherwise : route;
    }

    /** Topics with a route of their own. */
    Set<String> topics() {
        return routes.keySet();
    }
}
