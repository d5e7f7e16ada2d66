package dev.outbox.benchmarks;

import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.SQLException;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * Our poller, which finds messages of new keys without being woken.
 *
 * @param backlog rows that are not due
 */
record OursNewKeys(Backlog backlog) implements Courier {
    /** Without the rows that are due tomorrow. */
    private static final String UNFINISHED = """
            SELECT count(*) FROM outbox
            WHERE status <> 2 AND (due_on IS NULL OR due_on < statement_timestamp() + interval '1 hour')
            """;

    @Override
    public String name() {
        return "ours-new-keys";
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "poller with default options, wakesLocally(false), each message of a new key, keys that wait %,d",
                backlog.held());
    }

    @Override
    public void prepare(Trial trial) throws Exception {
        Database database = trial.database();
        OutboxTable.install(database);
        OutboxTable.fill(database, backlog.at(trial.scale()));
        database.analyze();
        trial.server().writeBack();
    }

    @Override
    public Line start(Database database, Arrivals arrivals) throws SQLException {
        DataSource pool = database.pool(Relay.CONNECTIONS);
        Outbox outbox = PostgresOutbox.builder(pool).wakesLocally(false).build();
        Poller poller =
                outbox.poller().to(item -> arrivals.arrived(item.payload())).start();
        return new OursWake.OursLine(outbox, pool, poller::close, true);
    }

    @Override
    public void check(Database database) throws SQLException {
        long unfinished = database.count(UNFINISHED);
        if (unfinished > 0) {
            throw new WrongResultException(unfinished + " messages of new keys are unfinished");
        }
    }
}
