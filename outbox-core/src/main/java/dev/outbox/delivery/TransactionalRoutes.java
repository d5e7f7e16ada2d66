package dev.outbox.delivery;

import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.sql.Connection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transactional destination that routes each topic to a handler of its own. Immutable; made by {@link
 * TransactionalDestination#byTopic()}.
 *
 * <pre>{@code
 * inbox.poller()
 *     .inTransaction(TransactionalDestination.byTopic()
 *         .route("orders.placed", this::invoice)
 *         .route("orders.cancelled", this::refund))
 *     .start();
 * }</pre>
 */
public final class TransactionalRoutes implements TransactionalDestination {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionalRoutes.class);

    static final TransactionalRoutes NONE = new TransactionalRoutes(Map.of(), UnroutedTopic.LEAVE, null);

    private final Map<String, TransactionalDestination> handlers;
    private final UnroutedTopic otherwise;
    private final @Nullable ErrorReport report;

    private TransactionalRoutes(
            Map<String, TransactionalDestination> handlers, UnroutedTopic otherwise, @Nullable ErrorReport report) {
        this.handlers = handlers;
        this.otherwise = otherwise;
        this.report = report;
    }

    /** @throws IllegalArgumentException if the topic has a route already */
    public TransactionalRoutes route(String topic, TransactionalDestination handler) {
        return new TransactionalRoutes(Routing.with(handlers, topic, handler), otherwise, report);
    }

    /** What happens to items whose topic has no route. Default: {@link UnroutedTopic#LEAVE}. */
    public TransactionalRoutes otherwise(UnroutedTopic otherwise) {
        return new TransactionalRoutes(handlers, Require.present("otherwise", otherwise), report);
    }

    /** The same routes; the log and the listeners of a poller are told which items are ignored. */
    TransactionalRoutes toldTo(ErrorReport report) {
        return new TransactionalRoutes(handlers, otherwise, report);
    }

    Routing routing() {
        return new Routing(handlers, this, otherwise != UnroutedTopic.LEAVE);
    }

    @Override
    public void deliver(Connection tx, WorkItem item) throws Exception {
        TransactionalDestination handler = handlers.get(item.topic());
        if (handler == null) {
            withoutRoute(item);
        } else {
            handler.deliver(tx, item);
        }
    }

    private void withoutRoute(WorkItem item) {
        String problem = "no route for topic " + item.topic()
                + "; add route(...) or otherwise(...), or restrict the poller with topics(...)";
        switch (otherwise) {
            case LEAVE, RETRY -> throw new IllegalStateException(problem);
            case DEAD -> throw new PermanentFailureException(problem);
            case IGNORE -> {
                if (report == null) {
                    LOG.warn("{} is ignored: no route for its topic", item);
                } else {
                    report.ignored(item);
                }
            }
        }
    }
}
