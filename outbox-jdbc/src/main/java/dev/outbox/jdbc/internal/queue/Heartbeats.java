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
 * Writes the heartbeats of a poller into the table {@link #TABLE}, in the schema of its own table. If there is no such table,
 * the poller looks for it again every ten minutes. A table that lacks a column is treated in the same way, and reported once.
 * Not thread-safe: one poller uses it.
 */
public final class Heartbeats {
    /** The name of the table; a schema has one. */
    public static final String TABLE = "outbox_pollers";

    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);

    private final Connections connections;
    private final StatementLimits limits;
    private final LongSupplier ticker;
    private final Statements statements;
    private boolean found;
    private boolean looked;
    private boolean reported;
    private long lookedAt;

    /** The statements of one database. */
    public interface Statements {
        boolean isTable(Connection connection) throws SQLException;

        void note(Connection connection, Heartbeat heartbeat) throws SQLException;

        /** Whether this error says that the table has been dropped. */
        boolean isDropped(SQLException e);

        /** Whether this error says that the table lacks a column. */
        boolean isOutdated(SQLException e);

        /** The columns that were added to the table last, for an error message. */
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
                report(heartbeat, e);
            } else {
                throw SqlFailure.of("heartbeat of poller " + heartbeat.poller() + " to " + TABLE + " failed", e);
            }
        }
    }

    private void report(Heartbeat heartbeat, SQLException e) {
        if (!reported) {
            reported = true;
            throw new OutboxException(
                    "poller " + heartbeat.poller() + " is not listed in " + TABLE + ", which lacks "
                            + statements.newestColumns() + "; drop that table and create it again with"
                            + " admin/V2__pollers.sql of outbox-migrations",
                    e,
                    false);
        }
    }

    /** The last error as a text column can hold it, and no longer than other errors. */
    public static @Nullable String error(Heartbeat heartbeat) {
        String error = heartbeat.lastError();
        return error == null
                ? null
                : StorableText.wellFormed(error.substring(0, Math.min(error.length(), Settlement.MAX_ERROR)));
    }
}
