package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A connection that is lost during the commit. */
class UnknownCommitIT {
    private final OutboxDatabase database = new OutboxDatabase();
    private final String table = database.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(database.pool()).table(table).build();

    @AfterEach
    void close() {
        database.close();
    }

    private static void insertOrder(Connection tx) throws SQLException {
        try (Statement insert = tx.createStatement()) {
            insert.execute("INSERT INTO orders VALUES ('order-1')");
        }
    }

    /** Commits of orders wait until the test gives up this lock. */
    private void createOrders() {
        database.execute("CREATE TABLE orders (id text)");
        database.execute("""
                CREATE FUNCTION wait_for_the_test() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM pg_advisory_xact_lock(4711);
                    RETURN NULL;
                END $$""");
        database.execute("""
                CREATE CONSTRAINT TRIGGER wait_for_the_test AFTER INSERT ON orders
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_the_test()""");
    }

    @Test
    void isNotCalledRetryableBecauseTheTransactionMayHaveBeenCommitted() throws Exception {
        createOrders();
        try (TcpProxy network = new TcpProxy(database.server().jdbcUrl());
                Connection holder = database.pool().getConnection();
                Statement lock = holder.createStatement()) {
            lock.execute("SELECT pg_advisory_lock(4711)");
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(network.jdbcUrl());
            Thread cutter = new Thread(() -> {
                await().until(() -> database.count("pg_locks", "locktype = 'advisory' AND NOT granted") == 1);
                network.cut();
            });
            cutter.start();

            assertThatThrownBy(() -> outbox.transaction(dataSource, tx -> {
                        insertOrder(tx);
                        return outbox.enqueue(
                                tx, Message.to("orders.placed").id("order-1").payload("{}"));
                    }))
                    .isInstanceOfSatisfying(
                            UnknownCommitException.class,
                            e -> assertThat(e.isRetryable()).isFalse())
                    .hasMessageContaining("may have been committed");
            cutter.join();
            lock.execute("SELECT pg_advisory_unlock(4711)");

            await("what nobody was told of is there").until(() -> database.count("orders", "true") == 1);
            assertThat(database.count(table, "true")).isOne();
        }
    }

    @Test
    void aCommitThatTheServerRefusesIsKnownToHaveFailed() throws IOException {
        database.execute("CREATE TABLE orders (id text UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        database.execute("INSERT INTO orders VALUES ('order-1')");

        assertThatThrownBy(() -> outbox.transaction(database.pool(), tx -> {
                    insertOrder(tx);
                    return outbox.enqueue(tx, Message.to("orders.placed").payload("{}"));
                }))
                .isInstanceOf(OutboxException.class)
                .isNotInstanceOf(UnknownCommitException.class);
        assertThat(database.count(table, "true")).isZero();
    }
}
