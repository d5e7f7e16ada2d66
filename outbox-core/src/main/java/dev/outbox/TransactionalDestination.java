package dev.outbox;

import java.sql.Connection;

/**
 * A destination whose effects are written to the source's own database: they commit together with the
 * item's settle, or not at all. If the item's lease was lost meanwhile, everything is rolled back.
 *
 * <p>Must not commit, roll back or close the connection.
 */
@FunctionalInterface
public interface TransactionalDestination {
    void deliver(Connection tx, WorkItem item) throws Exception;
}
