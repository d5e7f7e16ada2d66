package dev.outbox.benchmarks;

import dev.outbox.postgres.PostgresOutbox;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Our poller with a destination that takes a while for each message, as most real ones do. */
record OursSlow(int concurrency) implements Relay {
    private static final Duration CALL = Duration.ofMillis(2);

    @Override
    public String name() {
        return "ours-slow";
    }

    @Override
    public String settings() {
        return "to(...), " + CALL.toMillis() + " ms per message, concurrency " + concurrency;
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        OutboxTable.install(database);
        OutboxTable.fill(database, backlog);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        return PostgresOutbox.create(pool)
                .poller()
                .concurrency(concurrency)
                .to(item -> {
                    LockSupport.parkNanos(CALL.toNanos());
                    deliveries.arrive(item.payload());
                })
                .start()::close;
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
