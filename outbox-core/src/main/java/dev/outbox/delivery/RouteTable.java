package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The routes of one poller: one per destination where it routes by topic, otherwise a single one. It narrows claims to the
 * topics that may be delivered now. Thread-safe.
 */
final class RouteTable {
    private final PollerOptions options;

    /** Routes of the topics that have one of their own. */
    private final Map<String, Route> byTopic;

    /** The route of every other topic. */
    private final Route otherwise;

    /** The routes that items of this poller can take. */
    private final List<Route> all;

    /** The same routes, but without that of topics that have no destination: those items are only refused. */
    private final List<Route> destinations;

    RouteTable(PollerOptions options, Object destination) {
        this.options = options;
        Routing routing = Routing.of(destination);
        this.byTopic = routing == null
                ? Map.of()
                : routing.destinations().entrySet().stream()
                        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, route -> route(route.getValue())));
        this.otherwise = route(routing == null ? destination : routing.otherwise());
        Set<Route> distinct = new HashSet<>();
        if (options.topics().isEmpty()) {
            distinct.addAll(byTopic.values());
            distinct.add(otherwise);
        }
        options.topics().forEach(topic -> distinct.add(of(topic)));
        this.all = List.copyOf(distinct);
        boolean refuses = routing != null && routing.otherwise() == destination;
        this.destinations =
                all.stream().filter(route -> !refuses || route != otherwise).toList();
    }

    private Route route(Object destination) {
        return Route.of(options.source().queue(), destination, options.ticker());
    }

    /** Whether a slow destination could delay others. */
    boolean areSeveral() {
        return destinations.size() > 1;
    }

    /** The routes with a destination, whose calls may take long. */
    List<Route> destinations() {
        return destinations;
    }

    Route of(WorkItem item) {
        return of(item.topic());
    }

    private Route of(String topic) {
        return byTopic.getOrDefault(topic, otherwise);
    }

    /** The same claim without the topics of slow routes; null if none is left. */
    @Nullable
    ClaimRequest atFullSpeed(ClaimRequest request) {
        return atFullSpeed(request, Set.of());
    }

    /** The same claim without the topics of slow routes and of these; null if none is left. */
    @Nullable
    ClaimRequest atFullSpeed(ClaimRequest request, Set<Route> leftOut) {
        Set<Route> wanted = all.stream()
                .filter(route -> !route.isSlow() && !leftOut.contains(route))
                .collect(Collectors.toSet());
        return wanted.size() == all.size() ? request : of(request, wanted::contains);
    }

    /** The one call that a slow route allows, and the claim that finds items for it. */
    record Probe(Route route, Route.Permit permit, ClaimRequest request) {}

    /** Asks slow routes for a call; null if none allows one now. */
    @Nullable
    Probe probe(ClaimRequest request) {
        for (Route route : all) {
            Route.Permit permit = route.permit(options.now(), longestCall());
            if (permit != null) {
                return new Probe(route, permit, Require.present("claim", of(request, route::equals)));
            }
        }
        return null;
    }

    /** The routes that are slow now. */
    Set<Route> slow() {
        return all.stream().filter(Route::isSlow).collect(Collectors.toUnmodifiableSet());
    }

    private Duration longestCall() {
        return options.maxDeliveryTime().plus(options.lease());
    }

    /** How long until a slow route allows a call, in nanoseconds; {@link Long#MAX_VALUE} if none is slow. */
    long untilCall() {
        long now = options.now();
        return all.stream()
                .filter(Route::isSlow)
                .mapToLong(route -> route.untilCall(now))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private @Nullable ClaimRequest of(ClaimRequest request, Predicate<Route> wanted) {
        if (!options.topics().isEmpty()) {
            return ofTopics(request, options.topics(), wanted);
        }
        if (!wanted.test(otherwise)) {
            return ofTopics(request, byTopic.keySet(), wanted);
        }
        return request.except(topics(byTopic.keySet(), wanted.negate()));
    }

    private @Nullable ClaimRequest ofTopics(ClaimRequest request, Collection<String> topics, Predicate<Route> wanted) {
        Set<String> some = topics(topics, wanted);
        return some.isEmpty() ? null : request.topics(some);
    }

    private Set<String> topics(Collection<String> topics, Predicate<Route> wanted) {
        return topics.stream().filter(topic -> wanted.test(of(topic))).collect(Collectors.toSet());
    }
}
