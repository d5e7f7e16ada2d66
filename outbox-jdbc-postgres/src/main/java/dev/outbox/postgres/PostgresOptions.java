package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.queue.TableOptions;
import dev.outbox.jdbc.internal.queue.TableSettings;
import java.time.Duration;
import java.util.Set;
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

    /** No such column, no such table, no such unique index: what a statement meets that was made for another phase. */
    private static final Set<String> CHANGED = Set.of("42703", "42P01", "42P10");

    private @Nullable DataSource notify;

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

    /** Looks at the table, and again while it is not canonical. */
    <T> T open(
            TableSettings settings,
            TableSettings.Detection<PostgresTable> detection,
            TableSettings.Construction<LiveTable<PostgresTable>, T> construction) {
        return settings.openLive(detection, detection, PostgresOptions::hasChanged, refreshInterval(), construction);
    }

    private static boolean hasChanged(OutboxException e) {
        return e.sqlState() != null && CHANGED.contains(e.sqlState());
    }
}
