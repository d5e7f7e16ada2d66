package dev.outbox.jdbc.internal.inbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** The statements by which one database receives messages, made for one table. They run in the caller's transaction. */
public interface ReceiveStatements {
    /** Refuses a message that the table cannot hold, before anything is sent. */
    void check(Arrival arrival);

    /** Stores the record of a message if it is new, and counts a message that is not; in one round trip. */
    Map<Identity, Known> receive(Connection tx, Arrival arrival) throws SQLException;

    /**
     * Stores the work items that are new, in this order, and counts the others; in one round trip.
     *
     * @param arrivals each of another message
     */
    Map<Identity, Known> enqueue(Connection tx, List<Arrival> arrivals) throws SQLException;
}
