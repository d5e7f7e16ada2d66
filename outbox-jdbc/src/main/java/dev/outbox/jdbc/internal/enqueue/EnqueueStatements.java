package dev.outbox.jdbc.internal.enqueue;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The statements by which one database stores messages, made for one table. They run in the caller's transaction. */
public interface EnqueueStatements {
    /** The row as the table wants it; refuses a message that the table cannot hold, before anything is sent. */
    MessageRow fit(MessageRow row);

    /**
     * Stores the rows whose ids are not there yet, in this order and in one round trip. Of several rows with the same id it
     * stores the first.
     *
     * @param rows at least one
     * @return the ids of the rows that were stored
     */
    Set<UUID> insert(Connection tx, List<MessageRow> rows) throws SQLException;
}
