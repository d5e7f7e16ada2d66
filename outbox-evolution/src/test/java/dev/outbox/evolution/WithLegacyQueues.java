package dev.outbox.evolution;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Inbox;
import dev.outbox.Outbox;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test of two legacy tables, and of an outbox and an inbox over them. */
abstract class WithLegacyQueues {
    static final ClaimRequest CLAIM = new ClaimRequest(100, Duration.ofMinutes(10), 3, Set.of(), "test");

    Legacy legacy;
    HikariDataSource pool;

    @BeforeEach
    void open() throws SQLException {
        legacy = new Legacy(Spelling.PASCAL);
        pool = new HikariDataSource();
        pool.setJdbcUrl(legacy.jdbcUrl());
        pool.setMaximumPoolSize(4);
    }

    @AfterEach
    void close() {
        pool.close();
        legacy.close();
    }

    Outbox outbox() {
        return PostgresOutbox.builder(pool)
                .refreshInterval(Duration.ofMillis(20))
                .build();
    }

    Inbox inbox(String consumer) {
        return PostgresInbox.builder(pool)
                .consumer(consumer)
                .refreshInterval(Duration.ofMillis(20))
                .build();
    }

    static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    void upgrade(Upgrade upgrade, Phase phase) {
        hasty(upgrade).apply(pool, phase);
        if (phase == Phase.ADDITIVE) {
            hasty(upgrade).backfill().run(pool);
        }
    }

    interface Work<T> {
        T in(Connection tx) throws SQLException;
    }

    <T> T commit(Work<T> work) throws SQLException {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            T answer = work.in(tx);
            tx.commit();
            tx.setAutoCommit(true);
            return answer;
        }
    }
}
