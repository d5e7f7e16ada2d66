package dev.outbox.jdbc.internal;

import dev.outbox.internal.SqlFailure;
import dev.outbox.spi.Heartbeat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Notes pollers in the table {@link #TABLE} beside theirs, if there is one; where there is none, that is looked at again
 * every ten minutes. Not thread-safe: one poller.
 */
public final class Heartbeats {
    /** The name of the table, of which a schema has one. */
    public static final String TABLE = "outbox_pollers";

    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);

    private final Connections connections;
    private final LongSupplier ticker;
    private final Statements statements;
    private boolean found;
    private boolean looked;
    private long lookedAt;

    /** What a database is asked for. */
    public interface Statements {
        boolean isTable(Connection connection) throws SQLException;

        void note(Connection connection, Heartbeat heartbeat) throws SQLException;

        /** Whether this says that there is no such table, after all. */
        boolean isDropped(SQLException e);
    }

    public Heartbeats(Connections connections, LongSupplier ticker, Statements statements) {
        this.connections = connections;
        this.ticker = ticker;
        this.statements = statements;
    }

    public void note(Heartbeat heartbeat) {
        if (!found && looked && ticker.getAsLong() - lookedAt < BETWEEN_LOOKS.toNanos()) {
            return;
        }
        try (Borrowed borrowed = connections.autoCommitting()) {
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
            } else {
                throw SqlFailure.of("note of poller " + heartbeat.poller() + " in " + TABLE + " failed", e);
            }
        }
    }
}
