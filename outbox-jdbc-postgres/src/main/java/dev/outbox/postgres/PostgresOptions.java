package dev.outbox.postgres;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableOptions;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.MessageRow;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.jdbc.internal.TableSettings;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Options that an outbox and an inbox share, each with its default. Not thread-safe.
 *
 * @param <B> the builder they belong to
 */
public abstract sealed class PostgresOptions<B extends PostgresOptions<B>> extends TableOptions<B>
        permits PostgresOutbox.Builder, PostgresInbox.Builder {
    /** How often a table that is not canonical yet is looked at by default. */
    public static final Duration REFRESH_INTERVAL = Phase.REFRESH_INTERVAL;

    private @Nullable DataSource notify;
    private Duration refreshInterval = REFRESH_INTERVAL;

    PostgresOptions(DataSource dataSource, String table, Duration retention) {
        super(dataSource, table, retention);
    }

    /**
     * Wakes the pollers of other processes too, by {@code NOTIFY}, wherever a commit is known to wake those of
     * this JVM. Each process sends at most one every 10 ms, after commit and on a background thread: it
     * fails nobody and delays no commit. While a poller runs, another thread listens; nothing needs
     * closing.
     *
     * <p>It takes up to two connections of this data source and keeps them, so it must not be the pool of the
     * application. LISTEN does not work through a pooler in transaction mode: that is noticed and warned
     * of, and pollers find by polling. Default: off.
     *
     * @param own connects to the same database with the PostgreSQL JDBC driver, directly; a
     *     {@code PGSimpleDataSource} is good
     */
    public B notify(DataSource own) {
        this.notify = Require.present("notify", own);
        if (own == dataSource()) {
            throw new IllegalArgumentException("notify needs a DataSource of its own, was that of the table itself: it"
                    + " keeps connections, which a pool would miss; give it one that connects directly");
        }
        return self();
    }

    /**
     * How often a table that is not canonical yet is looked at, so that a migration is noticed without a restart; 10 ms
     * to 1 minute. A migration waits for twice the default before it takes away what the phase before needs, so who
     * sets more has to tell it. A canonical table is not looked at again. Default: {@link #REFRESH_INTERVAL}, 5 s.
     */
    public B refreshInterval(Duration refreshInterval) {
        this.refreshInterval =
                Require.between("refreshInterval", refreshInterval, Duration.ofMillis(10), Duration.ofMinutes(1));
        return self();
    }

    @Nullable
    DataSource notifying() {
        return notify;
    }

    /** Checks what the options say together. */
    TableSettings settings() {
        TableSettings settings = new TableSettings(
                dataSource(),
                TableName.parse(table()),
                new MessageRow.Rules(ordering(), serializer(), maxPayload(), warnPayload()),
                retention(),
                deadRetention(),
                listeners(),
                wakesLocally(),
                ticker());
        if (notify != null) {
            NotifyConnection.check(notify);
        }
        return settings;
    }

    /** What is made of a table. */
    interface Construction<T> {
        T over(LiveTable table, Connections connections);
    }

    /** Looks at the table, and again while it is not canonical. */
    <T> T open(TableSettings settings, TableSettings.Detection<PostgresTable> detection, Construction<T> construction) {
        return settings.open(detection, (found, connections) -> {
            LiveTable table = new LiveTable(connections, detection, found);
            T built = construction.over(table, connections);
            table.watch(refreshInterval);
            return built;
        });
    }
}
