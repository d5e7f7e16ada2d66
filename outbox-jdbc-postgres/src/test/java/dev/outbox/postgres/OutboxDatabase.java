package dev.outbox.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.TestSql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A database of one test class, or of one test, with as many outbox tables as its tests want. */
final class OutboxDatabase implements AfterAllCallback, AutoCloseable {
    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2)); // a busy machine is no failure
    }

    private final AtomicInteger tables = new AtomicInteger();
    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    private final HikariDataSource pool = database.pool(20);
    private final TestSql sql = TestSql.on(pool);
    private final List<HikariDataSource> impatientPools = new ArrayList<>();

    EmbeddedDatabase server() {
        return database;
    }

    HikariDataSource pool() {
        return pool;
    }

    /** A pool with settings of its own, for the caller to close. */
    HikariDataSource pool(Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setMinimumIdle(0);
        settings.accept(config);
        return new HikariDataSource(config);
    }

    /** A pool whose sessions fail where they would have to wait for a lock; it goes with the database. */
    HikariDataSource impatientPool() {
        HikariDataSource impatient = pool(config -> {
            config.setMaximumPoolSize(20);
            config.setConnectionInitSql("SET lock_timeout = '1s'");
        });
        impatientPools.add(impatient);
        return impatient;
    }

    /** A connection with a transaction open, for the caller to close. */
    Connection begin() {
        try {
            Connection tx = pool.getConnection();
            tx.setAutoCommit(false);
            return tx;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Creates a table of a fresh name. */
    String newTable() {
        String table = "outbox_" + tables.incrementAndGet();
        OutboxMigrations.install(pool, table);
        return table;
    }

    /** Creates an inbox table of a fresh name. */
    String newInboxTable() {
        String table = "inbox_" + tables.incrementAndGet();
        OutboxMigrations.installInbox(pool, table);
        return table;
    }

    /** Stores messages in a transaction of their own; answers the ids of their items. */
    static List<String> commit(javax.sql.DataSource dataSource, Outbox outbox, List<Message> messages) {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            List<String> ids = outbox.enqueueAll(tx, messages).stored();
            tx.commit();
            tx.setAutoCommit(true);
            return ids;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    List<String> commit(Outbox outbox, List<Message> messages) {
        return commit(pool, outbox, messages);
    }

    List<String> commit(Outbox outbox, Message... messages) {
        return commit(outbox, List.of(messages));
    }

    int execute(String sql, Object... parameters) {
        return this.sql.execute(sql, parameters);
    }

    /** The first column of all rows, as text. */
    List<String> query(String sql, Object... parameters) {
        return this.sql.query(sql, parameters);
    }

    long count(String table, String where) {
        return Long.parseLong(
                query("SELECT count(*) FROM " + table + " WHERE " + where).get(0));
    }

    Map<Status, Long> statuses(String table) {
        Map<Status, Long> statuses = new EnumMap<>(Status.class);
        for (String row : query("SELECT status || ':' || count(*) FROM " + table + " GROUP BY status")) {
            String[] parts = row.split(":");
            statuses.put(Status.ofCode(Integer.parseInt(parts[0])), Long.parseLong(parts[1]));
        }
        return statuses;
    }

    /** Locks rows in a transaction of its own; closing it rolls that back. */
    AutoCloseable lock(String table, List<String> itemIds) throws SQLException {
        Connection tx = pool.getConnection();
        tx.setAutoCommit(false);
        try (PreparedStatement lock = tx.prepareStatement(
                "SELECT FROM " + table + " WHERE work_item_id = ANY (?::uuid[]) ORDER BY sequence FOR UPDATE")) {
            lock.setArray(1, tx.createArrayOf("text", itemIds.toArray()));
            lock.execute();
        }
        return () -> {
            tx.rollback();
            tx.close();
        };
    }

    /** Registered as an extension in a static field, it goes with the test class. */
    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        impatientPools.forEach(HikariDataSource::close);
        database.close();
    }

    /** One work item of this table. */
    Optional<ItemState> find(String table, String itemId) throws SQLException {
        try (Connection connection = pool().getConnection();
                PreparedStatement find = connection.prepareStatement(
                        "SELECT status, attempt_count, last_error FROM " + table + " WHERE work_item_id = ?")) {
            find.setObject(1, UUID.fromString(itemId));
            try (ResultSet row = find.executeQuery()) {
                return row.next()
                        ? Optional.of(
                                new ItemState(itemId, Status.ofCode(row.getInt(1)), row.getInt(2), row.getString(3)))
                        : Optional.empty();
            }
        }
    }
}
