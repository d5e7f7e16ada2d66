package dev.outbox.delivery;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The destinations behind a routing destination: each of them has a {@link Route} of its own.
 *
 * @param routes what stands for the route of a topic
 * @param otherwise what stands for that of all other topics
 * @param isForAll whether other topics have a destination too, or an answer
 */
record ByTopic(Map<String, ?> routes, Object otherwise, boolean isForAll) {
    /** Null if the destination is one for all topics. */
    static @Nullable ByTopic of(Object destination) {
        if (destination instanceof Routes routes) {
            return routes.routes();
        }
        return destination instanceof Handlers handlers ? handlers.routes() : null;
    }
}
