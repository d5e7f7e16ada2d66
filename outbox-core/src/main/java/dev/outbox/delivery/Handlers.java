package dev.outbox.delivery;

import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.internal.Require;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transactional destination that picks a handler by topic. Immutable.
 *
 * <pre>{@code
 * inbox.poller()
 *     .inTransaction(Handlers.on("orders.placed", this::invoice).and("orders.cancelled", this::refund))
 *     .start();
 * }</pre>
 */
public final class Handlers implements TransactionalDestination {
    private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);

    private final Map<String, TransactionalDestination> byTopic;
    private final UnknownTopic unknown;
    private final @Nullable ErrorReport report;

    private Handlers(
            Map<String, TransactionalDestination> byTopic, UnknownTopic unknown, @Nullable ErrorReport report) {
        this.byTopic = byTopic;
        this.unknown = unknown;
        this.report = report;
    }

    /** A handler for this topic, and none for any other yet. */
    public static Handlers on(String topic, TransactionalDestination handler) {
        return new Handlers(Map.of(), UnknownTopic.LEAVE, null).and(topic, handler);
    }

    /**
     * One more handler.
     *
     * @throws IllegalArgumentException if the topic has a handler already
     */
    public Handlers and(String topic, TransactionalDestination handler) {
        Require.text("topic", topic, Message.MAX_NAME);
        Require.present("handler", handler);
        Map<String, TransactionalDestination> handlers = new LinkedHashMap<>(byTopic);
        if (handlers.putIfAbsent(topic, handler) != null) {
            throw new IllegalArgumentException("topic " + topic + " has a handler already; each topic takes one");
        }
        return new Handlers(handlers, unknown, report);
    }

    /** What becomes of items without a handler. Default: {@link UnknownTopic#LEAVE}. */
    public Handlers unknown(UnknownTopic unknown) {
        return new Handlers(byTopic, Require.present("unknown", unknown), report);
    }

    /** The same, telling a poller's log and listeners what is ignored. */
    Handlers toldTo(ErrorReport report) {
        return new Handlers(byTopic, unknown, report);
    }

    ByTopic routes() {
        return new ByTopic(byTopic, this, unknown != UnknownTopic.LEAVE);
    }

    @Override
    public void deliver(Connection tx, WorkItem item) throws Exception {
        TransactionalDestination handler = byTopic.get(item.topic());
        if (handler == null) {
            withoutHandler(item);
        } else {
            handler.deliver(tx, item);
        }
    }

    private void withoutHandler(WorkItem item) {
        String problem = "no handler for topic " + item.topic()
                + "; add on(...) or and(...), or restrict the poller with topics(...)";
        switch (unknown) {
            case LEAVE, RETRY -> throw new IllegalStateException(problem);
            case DEAD -> throw new PermanentFailureException(problem);
            case IGNORE -> {
                if (report == null) {
                    LOG.warn("{} is ignored: no handler for its topic", item);
                } else {
                    report.ignored(item);
                }
            }
        }
    }
}
