package dev.outbox.benchmarks;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Our poller in the same JVM as the producers, while some older messages fail at every attempt.
 *
 * @param poison how many messages fail; may be 0
 */
record OursBesidePoison(int poison) implements Courier {
    /** The messages that fail have this number and the following ones. */
    private static final int FIRST_POISON = 1_000_000;

    @Override
    public String name() {
        return poison == 0 ? "ours-healthy" : "ours-troubled";
    }

    @Override
    public String settings() {
        return "poller in the same JVM, transaction(...), default options; messages that always fail: " + poison;
    }

    @Override
    public Line start(Database database, Arrivals arrivals) throws SQLException {
        OutboxTable.install(database);
        DataSource pool = database.pool(Relay.CONNECTIONS);
        Outbox outbox = PostgresOutbox.create(pool);
        List<Message> failing = IntStream.range(0, poison)
                .mapToObj(n -> Message.to("bench").payload(Payload.of(FIRST_POISON + n)))
                .toList();
        outbox.transaction(pool, tx -> outbox.enqueueAll(tx, failing));
        Poller poller = outbox.poller().to(item -> deliver(item, arrivals)).start();
        return new OursWake.OursLine(outbox, pool, poller::close);
    }

    private static void deliver(WorkItem item, Arrivals arrivals) {
        int number = Payload.number(item.payload());
        if (number >= FIRST_POISON) {
            throw new IllegalStateException("message " + number + " is refused");
        }
        arrivals.arrived(item.payload());
    }

    @Override
    public void check(Database database) throws SQLException {
        long unfinished = OutboxTable.unfinished(database);
        long backingOff = database.count("SELECT count(*) FROM outbox WHERE status = 0 AND attempt_count > 0");
        if (unfinished != poison || backingOff != poison) {
            throw new WrongResultException(unfinished + " messages are unfinished and " + backingOff
                    + " of them back off, expected " + poison);
        }
    }
}
