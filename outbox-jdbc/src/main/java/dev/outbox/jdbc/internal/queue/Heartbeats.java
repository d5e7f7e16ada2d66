package dev.outbox.jdbc.internal.queue;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.StatementLimits;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notes pollers in the table {@link #TABLE} beside theirs, if there is one; where there is none, that is looked at again
 * every ten minutes. A table that lacks a column is treated in the same way, and complained of once. Not thread-safe: one
 * poller.
 */
public final class Heartbeats {
    /** The name of the table, of which a schema has one. */
    public static final String TABLE = "outbox_pollers";

    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);

    private final Connections connections;
    private final StatementLimits limits;
    private final LongSupplier ticker;
    private final Statements statements;
    private boolean found;
    private boolean looked;
    private boolean complained;
    private long lookedAt;

    /** What a database is asked for. */
    public interface Statements {
        boolean isTable(Connection connection) throws SQLException;

        void note(Connection connection, Heartbeat heartbeat) throws SQLException;

        /** Whether this says that there is no such table, after all. */
        boolean isDropped(SQLException e);

        /** Whether this says that the table lacks a column. */
        boolean isOutdated(SQLException e);

        /** The columns that were added to the table last, for people. */
        String newestColumns();
    }

    public Heartbeats(Connections connections, StatementLimits limits, LongSupplier ticker, Statements statements) {
        this.connections = connections;
        this.limits = limits;
        this.ticker = ticker;
        this.statements = statements;
    }

    public void note(Heartbeat heartbeat) {
        if (!found && looked && ticker.getAsLong() - lookedAt < BETWEEN_LOOKS.toNanos()) {
            return;
        }
        try (BorrowedConnection borrowed = connections.autoCommitting(limits.forClaim())) {
            if (!found) {
                found = statements.isTable(borrowed.connection());
                looked = true;
                lookedAt = ticker.getAsLong();
            }
            if (found) {
                statements.note(borrowed.connection(), heartbeat);
            }
        } catch (SQLException e) {
            if (statements.isDropped(e)) {
                found = false;
            } else if (statements.isOutdated(e)) {
                found = false;
                complain(heartbeat, e);
            } else {
                throw SqlFailure.of("note of poller " + heartbeat.poller() + " in " + TABLE + " failed", e);
            }
        }
    }

    private void complain(Heartbeat heartbeat, SQLException e) {
        if (!complained) {
            complained = true;
            throw new OutboxException(
                    "poller " + heartbeat.poller() + " is not listed in " + TABLE + ", which lacks "
                            + statements.newestColumns() + "; drop that table and create it again with"
                            + " admin/V2__pollers.sql of outbox-migrations",
                    e,
                    false);
        }
    }

    /** As it can be stored: no longer than other errors, and without what no text column holds. */
    public static @Nullable String error(Heartbeat heartbeat) {
        String error = heartbeat.lastError();
        return error == null
                ? null
                : StorableText.wellFormed(error.substring(0, Math.min(error.length(), Settlement.MAX_ERROR)));
    }
}
