package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.sql.Connection;

/**
 * A destination, also called handler, whose effects are written to the source's own database. They commit together with the
 * item's settle, or not at all. If the item's lease was lost meanwhile, everything is rolled back.
 *
 * <p>The transaction is READ COMMITTED, whatever the default of the pool; the poller warns at its start if that is
 * another level. A destination may set a stricter level with {@code SET TRANSACTION ISOLATION LEVEL} as its first
 * statement. Then the settle or the commit may fail with a serialization failure, which counts as an attempt.
 *
 * <p>Must not commit, roll back or close the connection.
 */
@FunctionalInterface
public interface TransactionalDestination {
    void deliver(Connection tx, WorkItem item) throws Exception;

    /**
     * A destination that routes each topic to a handler of its own; add at least one {@link TransactionalRoutes#route
     * route}.
     */
    static TransactionalRoutes byTopic() {
        return TransactionalRoutes.NONE;
    }
}
