package dev.outbox.benchmarks;

import dev.outbox.Outbox;
import dev.outbox.postgres.PostgresOutbox;
import javax.sql.DataSource;

/** Our poller in another JVM, woken by NOTIFY. */
final class OursNotify implements Courier {
    @Override
    public String name() {
        return "ours-notify";
    }

    @Override
    public String settings() {
        return "poller in another JVM, transaction(...) and notify(...), batch size " + Relay.BATCH;
    }

    @Override
    public Line start(Database database, Arrivals arrivals) throws Exception {
        OutboxTable.install(database);
        DataSource pool = database.pool(Relay.CONNECTIONS);
        Outbox outbox = PostgresOutbox.builder(pool).notify(database.direct()).build();
        return new OursWake.OursLine(outbox, pool, NotifiedProcess.start(database.url(), arrivals));
    }
}
