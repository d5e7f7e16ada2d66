package dev.outbox.jdbc.internal.queue;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a {@link TableSource} asks a database for, about one table. Connections are in auto-commit mode where nothing else is
 * said. Only one claim runs at a time, everything else by several threads.
 */
public interface SourceStatements extends ClaimCycle.Statements {
    /** In a handler's transaction. Answers what was fenced. */
    Set<Lease> settleIn(Connection tx, List<Settlement> settlements, Duration lockLimit) throws SQLException;

    Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException;

    /** Time until the next item of these topics is due, of those that are not due yet; of all topics if there are none. */
    Optional<Duration> nextDue(Connection connection, Set<String> topics) throws SQLException;

    /** Removes one batch of rows whose retention has passed. */
    int purge(Duration limit);

    Heartbeats.Statements heartbeats();

    /** What a handler's transaction begins with. */
    void begin(Connection tx) throws SQLException;

    /** Why a settle in a handler's transaction has failed, and what the handler can do. */
    OutboxException settleFailure(SQLException e);

    /**
     * A statement has failed. The connection may be ended or adjusted here, before it is given back.
     *
     * @return whether it may be run once more
     */
    boolean afterFailure(Connection connection, SQLException e) throws SQLException;
}
