package dev.outbox.sqlserver;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.TestSql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database on a server under test, with as many tables as its tests want. */
public final class SqlServerDatabase {
    private static final String OUTBOX = "contract_outbox";
    private static final String INBOX = "contract_inbox";

    private final HikariDataSource pool;
    private final TestSql sql;
    private final String url;
    private final boolean babelfish;

    /** @param first what every connection says first */
    public SqlServerDatabase(String url, @Nullable String first, boolean babelfish) {
        this.url = url;
        this.babelfish = babelfish;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setConnectionInitSql(first);
        config.setMaximumPoolSize(24);
        config.setMinimumIdle(0);
        this.pool = new HikariDataSource(config);
        this.sql = TestSql.on(pool);
    }

    public String url() {
        return url;
    }

    public boolean isBabelfish() {
        return babelfish;
    }

    public HikariDataSource pool() {
        return pool;
    }

    /** Connections that nobody shares, for who must not leave anything on them; the server shows them by this name. */
    public DataSource unpooled(String application) {
        SQLServerDataSource dataSource = new SQLServerDataSource();
        dataSource.setURL(url);
        dataSource.setApplicationName(application);
        return dataSource;
    }

    /** An outbox table without rows. */
    public String emptyTable() {
        OutboxMigrations.installIfMissing(pool, OUTBOX);
        execute("DELETE FROM " + OUTBOX);
        return OUTBOX;
    }

    /** An inbox table without rows. */
    public String emptyInboxTable() {
        OutboxMigrations.installInboxIfMissing(pool, INBOX);
        execute("DELETE FROM " + INBOX);
        return INBOX;
    }

    /** Stores messages in a transaction of their own; answers the ids of their messages. */
    public List<String> commit(Outbox outbox, List<Message> messages) {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            List<String> ids = outbox.enqueueAll(tx, messages).stored();
            tx.commit();
            tx.setAutoCommit(true);
            return ids;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public interface Work {
        void in(Connection tx) throws SQLException;
    }

    public void transaction(Work work) throws SQLException {
        try (Connection tx = pool.getConnection()) {
            if (babelfish) { // where a batch that failed leaves it on
                try (Statement statement = tx.createStatement()) {
                    statement.execute("SET NOCOUNT OFF");
                }
            }
            tx.setAutoCommit(false);
            try {
                work.in(tx);
                tx.commit();
            } finally {
                tx.rollback();
                tx.setAutoCommit(true);
            }
        }
    }

    public void execute(String sql, Object... parameters) {
        this.sql.execute(sql, parameters);
    }

    /** The first column of all rows, as text. */
    public List<String> query(String sql, Object... parameters) {
        return this.sql.query(sql, parameters);
    }

    /** How many sessions of the server wait for another one. */
    public int blockedSessions() {
        return Integer.parseInt(query(
                        babelfish // whose sys.sysprocesses shows nobody as blocked
                                ? "SELECT COUNT(*) FROM pg_catalog.pg_stat_activity WHERE wait_event_type = 'Lock'"
                                : "SELECT COUNT(*) FROM sys.sysprocesses WHERE blocked <> 0")
                .get(0));
    }

    /** The ids of the last so many items, in their order. */
    public List<String> lastItems(String table, String where, int count) {
        return query("SELECT id FROM (SELECT TOP (" + count
                + ") LOWER(CAST(WorkItemId AS nvarchar(36))) AS id, Sequence" + " FROM " + table + " WHERE " + where
                + " ORDER BY Sequence DESC) last ORDER BY last.Sequence");
    }

    public Map<Status, Long> statuses(String table, String where) {
        Map<Status, Long> statuses = new EnumMap<>(Status.class);
        for (String row :
                query("SELECT CONCAT(Status, N':', COUNT(*)) FROM " + table + " WHERE " + where + " GROUP BY Status")) {
            String[] parts = row.split(":");
            statuses.put(Status.ofCode(Integer.parseInt(parts[0])), Long.parseLong(parts[1]));
        }
        return statuses;
    }

    /** One work item of this table. */
    public Optional<ItemState> find(String table, String itemId) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement find = connection.prepareStatement("SELECT Status, AttemptCount, LastError FROM "
                        + table + " WHERE WorkItemId = CAST(? AS uniqueidentifier)")) {
            find.setString(1, itemId);
            try (ResultSet row = find.executeQuery()) {
                return row.next()
                        ? Optional.of(
                                new ItemState(itemId, Status.ofCode(row.getInt(1)), row.getInt(2), row.getString(3)))
                        : Optional.empty();
            }
        }
    }
}
