package dev.outbox.benchmarks;

import dev.outbox.admin.Admin;
import dev.outbox.admin.Box;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Our poller, while an operator keeps purging all Done rows as long as there is something to deliver. */
record PurgingRelay() implements Relay {
    @Override
    public String name() {
        return "ours-purging";
    }

    @Override
    public String settings() {
        return OursRelay.KEEP.settings() + ", purged meanwhile";
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        OursRelay.KEEP.store(database, backlog);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) throws Exception {
        Admin admin = Admin.of(pool).outbox("outbox").build();
        Thread purging = new Thread(() -> admin.purge(Box.OUTBOX, Duration.ZERO, false), "purge");
        purging.start();
        Running poller = OursRelay.KEEP.start(pool, deliveries);
        return () -> {
            poller.stop();
            purging.interrupt();
            purging.join();
        };
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
