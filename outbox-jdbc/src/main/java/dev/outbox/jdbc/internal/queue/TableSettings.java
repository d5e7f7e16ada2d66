package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ack;
import dev.outbox.Ordering;
import dev.outbox.event.OutboxListener;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.jdbc.internal.claim.FreedKeys;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What the options of a builder say once all of them are given.
 *
 * @param rules what a message must meet to be stored
 * @param deadRetention null means for ever
 * @param refreshInterval how often a table that is not canonical is looked at
 */
public record TableSettings(
        DataSource dataSource,
        TableName name,
        Ordering ordering,
        MessageRow.Rules rules,
        Ack ack,
        Duration retention,
        @Nullable Duration deadRetention,
        List<OutboxListener> listeners,
        boolean wakesLocally,
        LongSupplier ticker,
        Duration refreshInterval) {

    /** How a table is looked at. */
    public interface Detection<L> {
        L detect(Connection connection, TableName name) throws SQLException;
    }

    /** Whether transactions lock the keys of what they store. */
    public boolean strict() {
        return ordering == Ordering.STRICT;
    }

    SourceSettings ofSource(Connections connections, Arrivals arrivals) {
        return new SourceSettings(
                connections, ack, retention, deadRetention, rules.serializer(), ticker, arrivals, new FreedKeys());
    }
}
