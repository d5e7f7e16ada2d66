package dev.outbox.delivery;

/**
 * What the parts of one poller share.
 *
 * @param heartbeat what is told of the poller twice a minute
 * @param log which items failed
 * @param errors which errors the poller survived
 */
record PollerContext(
        PollerOptions options,
        RouteTable routes,
        InFlight inFlight,
        HeartbeatSender heartbeat,
        FailureLog log,
        ErrorReport errors) {
    static PollerContext of(PollerOptions options, Object destination) {
        RouteTable routes = new RouteTable(options, destination);
        HeartbeatSender heartbeat = new HeartbeatSender(options);
        FailureLog log = new FailureLog(options);
        return new PollerContext(
                options, routes, new InFlight(routes), heartbeat, log, new ErrorReport(options, log, heartbeat));
    }
}
