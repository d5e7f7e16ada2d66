package dev.outbox.jdbc.internal.queue;

import dev.outbox.OutboxException;
import dev.outbox.PayloadSerializer;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What a builder's options say once they are all given.
 *
 * @param deadRetention null means for ever
 */
public record TableSettings(
        DataSource dataSource,
        TableName name,
        MessageRow.Rules rules,
        Duration retention,
        @Nullable Duration deadRetention,
        List<OutboxListener> listeners,
        boolean wakesLocally,
        LongSupplier ticker) {

    /** How a table is looked at. */
    public interface Detection<L> {
        L detect(Connection connection, TableName name) throws SQLException;
    }

    /** What is made of it. */
    public interface Construction<L, T> {
        T over(L table, Connections connections);
    }

    /** Looks at the table, once and for all. */
    public <L, T> T open(Detection<L> detection, Construction<L, T> construction) {
        Connections connections = new Connections(dataSource);
        try (Connection connection = dataSource.getConnection()) {
            L table = detection.detect(connection, name);
            connections.learnDefaults(connection);
            return construction.over(table, connections);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look at table " + name, e);
        }
    }

    /**
     * Looks at the table, and again every so often while it is not canonical.
     *
     * @param first how it is looked at now
     * @param again how it is looked at later
     */
    public <L extends LiveTable.Seen, T> T openLive(
            Detection<L> first,
            Detection<L> again,
            Predicate<OutboxException> changed,
            Duration refreshInterval,
            Construction<LiveTable<L>, T> construction) {
        return open(first, (found, connections) -> {
            LiveTable<L> table = new LiveTable<>(connections, again, changed, found);
            T built = construction.over(table, connections);
            table.watch(refreshInterval);
            return built;
        });
    }

    public Emitter emitter() {
        return new Emitter(listeners);
    }

    public @Nullable PayloadSerializer serializer() {
        return rules.serializer();
    }
}
