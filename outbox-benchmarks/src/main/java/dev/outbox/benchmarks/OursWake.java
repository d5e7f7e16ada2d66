package dev.outbox.benchmarks;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/** Our poller in the same JVM as the producers, woken by their commits. */
final class OursWake implements Courier {
    @Override
    public String name() {
        return "ours-wake";
    }

    @Override
    public String settings() {
        return "poller in the same JVM, transaction(...), batch size " + Relay.BATCH;
    }

    @Override
    public Line start(Database database, Arrivals arrivals) throws SQLException {
        OutboxTable.install(database);
        DataSource pool = database.pool(Relay.CONNECTIONS);
        Outbox outbox = PostgresOutbox.create(pool);
        Poller poller = outbox.poller()
                .to(item -> arrivals.arrived(item.payload()))
                .batchSize(Relay.BATCH)
                .start();
        return new OursLine(outbox, pool, poller::close);
    }

    /**
     * Enqueues in transactions that wake the pollers.
     *
     * @param withKeys whether each message has a key of its own
     */
    record OursLine(Outbox outbox, DataSource pool, Running poller, boolean withKeys) implements Line {
        OursLine(Outbox outbox, DataSource pool, Running poller) {
            this(outbox, pool, poller, false);
        }

        @Override
        public void commit(int number) throws SQLException {
            Message message = Message.to("bench")
                    .key(withKeys ? UUID.randomUUID().toString() : null)
                    .payload(Payload.of(number));
            outbox.transaction(pool, tx -> {
                Orders.insert(tx, number);
                return outbox.enqueue(tx, message);
            });
        }

        @Override
        public void stop() throws Exception {
            poller.stop();
        }
    }
}
