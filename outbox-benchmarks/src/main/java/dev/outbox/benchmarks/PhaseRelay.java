package dev.outbox.benchmarks;

import dev.outbox.evolution.LegacyTables;
import dev.outbox.evolution.Spelling;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Our poller on a legacy table that has been migrated to some phase; in phase 4 it is a canonical table. */
record PhaseRelay(Phase phase) implements Relay {
    private static final String MESSAGES = """
            INSERT INTO outbox ([Id], [MessageId], [Topic], [Payload], [CreatedAt])
            SELECT %s, gen_random_uuid(), 'bench', %s, statement_timestamp() + n * interval '1 microsecond'
            FROM generate_series(0, %d) n
            """;

    @Override
    public String name() {
        return "ours-" + phase.toString().replace(' ', '-');
    }

    @Override
    public String settings() {
        return OursRelay.KEEP.settings() + ", " + phase;
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        database.execute(LegacyTables.outbox(Spelling.PASCAL, "outbox"));
        database.execute(
                Spelling.PASCAL.sql(MESSAGES.formatted(OutboxTable.id(backlog), Payload.SQL, backlog.messages() - 1)));
        Upgrade upgrade =
                Upgrade.outbox("outbox").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
        for (Phase next : Phase.values()) {
            if (next != Phase.LEGACY && next.compareTo(phase) <= 0) {
                upgrade.apply(database.direct(), next);
                if (next == Phase.ADDITIVE) {
                    upgrade.backfill().run(database.direct());
                }
            }
        }
        database.execute("VACUUM outbox");
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        return OursRelay.KEEP.start(pool, deliveries);
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return phase == Phase.CLEAN
                ? OutboxTable.unfinished(database)
                : database.count(Spelling.PASCAL.sql("SELECT count(*) FROM outbox WHERE [Status] <> 2"));
    }
}
