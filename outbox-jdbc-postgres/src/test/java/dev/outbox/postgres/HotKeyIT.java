package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A key with much traffic while somebody keeps an old snapshot, so that nothing that has passed can be cleaned up. */
class HotKeyIT {
    private static final int BATCH = 50;
    private static final int BATCHES = 80;
    private static final ClaimRequest SOME = new ClaimRequest(BATCH, Duration.ofMinutes(5), 10, Set.of(), "me");

    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table = DATABASE.newTable();

    @Test
    void aClaimDoesNotPassWhatTheKeyHadBefore() throws SQLException {
        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, message_key, payload)"
                + " SELECT gen_random_uuid(), 'orders', 'hot', '' FROM generate_series(1, " + BATCH * BATCHES + ")");
        try (Connection old = DATABASE.pool().getConnection();
                HikariDataSource pool = DATABASE.pool(config -> config.setMaximumPoolSize(1))) {
            old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            old.setAutoCommit(false);
            query(old, "SELECT count(*) FROM pg_class");
            Source source = PostgresOutbox.builder(pool)
                    .table(table)
                    .ticker(() -> 0) // no bound ends, and no sweep begins
                    .build()
                    .source();
            pass(source, 12); // until bounds are worth while
            long before = entriesRead(pool);
            pass(source, 1);
            long atFirst = entriesRead(pool) - before;
            pass(source, BATCHES - 14);
            before = entriesRead(pool);
            pass(source, 1);
            long atLast = entriesRead(pool) - before;

            assertThat(atFirst).isPositive();
            assertThat(atLast).isLessThan(2 * atFirst + BATCH);
            old.rollback();
        }
    }

    private void pass(Source source, int batches) {
        for (int i = 0; i < batches; i++) {
            Claim claim = source.claim(SOME);
            assertThat(claim.items()).hasSize(BATCH);
            List<Settlement> done = claim.items().stream()
                    .map(item -> Settlement.done(claim.lease(item)))
                    .toList();
            assertThat(source.settle(done).lost()).isEmpty();
        }
    }

    /** From the index of the keys, by all statements so far of the only connection of this pool. */
    private long entriesRead(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            query(connection, "SELECT pg_stat_force_next_flush()");
            return query(
                    connection,
                    "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = '" + table + "'");
        }
    }

    private static long query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getMetaData().getColumnTypeName(1).equals("void") ? 0 : row.getLong(1);
        }
    }
}
