package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.queue.TableOptions;
import dev.outbox.jdbc.internal.queue.TableSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Options that an outbox and an inbox share, each with its default. Not thread-safe.
 *
 * @param <B> the builder they belong to
 */
public abstract sealed class SqlServerOptions<B extends SqlServerOptions<B>> extends TableOptions<B>
        permits SqlServerOutbox.Builder, SqlServerInbox.Builder {
    SqlServerOptions(DataSource dataSource, String table, Duration retention) {
        super(dataSource, table, retention);
    }

    /** Checks what the options say together. */
    TableSettings settings() {
        return new TableSettings(
                dataSource(),
                TableName.parse(table()),
                new MessageRow.Rules(ordering(), serializer(), maxPayload(), warnPayload()),
                retention(),
                deadRetention(),
                listeners(),
                wakesLocally(),
                ticker());
    }

    /** How a table is looked at. */
    interface Detection {
        SqlServerTable detect(Connection connection, TableName name, SqlServerTable.Look look) throws SQLException;
    }

    /** Looks at the table, and again while it is not canonical. */
    <T> T open(
            TableSettings settings,
            Detection detection,
            TableSettings.Construction<LiveTable<SqlServerTable>, T> construction) {
        return settings.openLive(
                (connection, name) -> detection.detect(connection, name, SqlServerTable.Look.FIRST),
                (connection, name) -> detection.detect(connection, name, SqlServerTable.Look.AGAIN),
                SqlServerChange::isBehind,
                refreshInterval(),
                construction);
    }
}
