package dev.outbox.jdbc.internal.claim;

import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.SQLException;

/** Leases items, by the statements for one phase of a table. */
public interface ClaimStatement {
    ClaimedRows run(Connection connection, ClaimRequest request) throws SQLException;
}
