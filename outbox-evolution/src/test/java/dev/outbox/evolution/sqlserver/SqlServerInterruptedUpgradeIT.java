package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.evolution.Killed;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.LockWaits;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.ServerGaps;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerInbox;
import dev.outbox.sqlserver.SqlServerOutbox;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What was killed in the middle of a migration is repeated, and the end is the same; on the server given. */
@OnServer(Server.GIVEN)
class SqlServerInterruptedUpgradeIT {
    private static final boolean FULL = Boolean.getBoolean("outbox.full");

    /** The default run kills a step at some of its statements. */
    private static final int EVERY = FULL ? 1 : 11;

    private static final int KILLS = 20;
    private static final int ROWS = 1_024;
    private static final String OUTBOX = "k1";
    private static final String INBOX = "k2";

    private final SqlServerDatabase database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    private final DataSource migration = ForgivingDataSource.over(database, database.unpooled(LockWaits.MIGRATION));

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    @AfterEach
    void drop() {
        LegacyOutbox.drop(database, OUTBOX);
        LegacyOutbox.drop(database, INBOX);
        LegacyOutbox.drop(database, "fresh");
    }

    @Test
    void aStepOfAnOutboxThatWasKilledAtAStatementCanBeRepeated() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.CAMEL, OUTBOX);
        old.row("one", 0, 1, null);
        old.row("two", 2, 2, null);

        killedAtStatements(
                hasty(Upgrade.outbox(OUTBOX)),
                tx -> SqlServerOutbox.builder(database.pool())
                        .table(OUTBOX)
                        .refreshInterval(Duration.ofMinutes(1))
                        .build()
                        .enqueue(tx, Message.to("orders").payload("p")));

        OutboxMigrations.install(database.pool(), "fresh");
        assertThat(WithLegacyOutbox.catalog(database, OUTBOX))
                .containsExactlyElementsOf(WithLegacyOutbox.catalog(database, "fresh"));
    }

    @Test
    void aStepOfAnInboxThatWasKilledAtAStatementCanBeRepeated() throws SQLException {
        LegacyInbox old = new LegacyInbox(database, LegacyOutbox.Spelling.CAMEL, INBOX);
        old.row("one", "Seen", 1, "orders");
        old.row("two", "Done", 2, null);
        int[] messages = {0};

        killedAtStatements(
                hasty(Upgrade.inbox(INBOX, "billing")),
                tx -> assertThat(SqlServerInbox.builder(database.pool())
                                .table(INBOX)
                                .consumer("billing")
                                .refreshInterval(Duration.ofMinutes(1))
                                .build()
                                .receive(
                                        tx,
                                        Incoming.from("shop", "m" + ++messages[0])
                                                .payload("p"))
                                .isFirst())
                        .isTrue());

        OutboxMigrations.installInbox(database.pool(), "fresh");
        assertThat(WithLegacyOutbox.catalog(database, INBOX))
                .containsExactlyElementsOf(WithLegacyOutbox.catalog(database, "fresh"));
    }

    /** @param work of a node that starts just now: it finds a table that it can work with */
    private void killedAtStatements(Upgrade upgrade, SqlServerDatabase.Work work) throws SQLException {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            boolean wasKilled = true;
            for (int at = 2; wasKilled; at += EVERY) {
                Killed killed = new Killed(migration, at, method -> method.startsWith("execute"));
                try {
                    upgrade.apply(killed.dataSource(), phase);
                } catch (OutboxException e) {
                    assertThat(killed.wasKilled())
                            .as("%s at %d: %s", phase, at, e)
                            .isTrue();
                    assertThat(e).hasMessageContaining("killed"); // and not by what failed after that
                }
                if (phase.before(Phase.CLEAN) || Server.GIVEN.has(ServerGaps.Trait.ALTERS_COLUMNS)) {
                    database.transaction(work);
                }
                wasKilled = killed.wasKilled();
            }
            if (phase.before(Phase.FLIPPED)) {
                upgrade.backfill().run(migration);
            }
            assertThat(upgrade.phase(migration)).isEqualTo(phase);
        }
        assertThat(upgrade.report(migration).findings()).isEmpty();
    }

    /** Number 1 is the oldest that is unfinished; the finished ones come after those. */
    @Test
    void aBackfillThatWasKilledAtRandomEndsExact() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, OUTBOX);
        fill(old);
        Upgrade upgrade = hasty(Upgrade.outbox(OUTBOX));
        upgrade.apply(migration, Phase.ADDITIVE);
        // which some servers give to the rows that are there
        database.execute("UPDATE " + OUTBOX + " SET Sequence = NULL, Priority = NULL, BlocksKey = NULL");
        Random random = new Random(7);
        int kills = 0;
        for (int run = 0; run < KILLS; run++) {
            Killed killed = new Killed(migration, 2 + random.nextInt(8), method -> method.startsWith("execute"));
            try {
                upgrade.backfill().batch(ROWS / 32).pause(Duration.ZERO).run(killed.dataSource());
            } catch (OutboxException e) {
                assertThat(e).hasMessageContaining("run it again to continue");
                kills++;
            }
            database.transaction(tx -> old.enqueue(tx, "new", "beside it"));
        }
        assertThat(kills).isEqualTo(KILLS);

        upgrade.backfill().run(migration);

        assertThat(database.query("SELECT CONCAT(COUNT(*), N',', MIN(Sequence), N',', MAX(Sequence), N',',"
                        + " COUNT(DISTINCT Sequence)) FROM " + OUTBOX + " WHERE Topic = N'orders'"))
                .containsExactly(ROWS + ",1," + ROWS + "," + ROWS);
        assertThat(database.query("SELECT COUNT(*) FROM (SELECT Place, LAG(Place) OVER (ORDER BY Sequence) AS Before"
                        + " FROM (SELECT Sequence, ROW_NUMBER() OVER (ORDER BY CASE WHEN Status < 2 THEN 0 ELSE 1 END,"
                        + " CreatedAt) AS Place FROM " + OUTBOX + " WHERE Topic = N'orders') placed) followed"
                        + " WHERE Place < Before"))
                .containsExactly("0");
        assertThat(database.query("SELECT COUNT(DISTINCT Sequence) FROM " + OUTBOX + " WHERE Topic = N'new'"))
                .containsExactly(String.valueOf(KILLS));
        assertThat(upgrade.report(migration).findings()).isEmpty();
        assertThat(database.query("SELECT name FROM sys.tables WHERE name = N'" + OUTBOX + "_backfill'"))
                .isEmpty();
    }

    private void fill(LegacyOutbox old) {
        old.row("p", 0, 0, null);
        for (int rows = 1; rows < ROWS; rows *= 2) { // each of another time, the last ones the oldest
            database.execute("INSERT INTO " + OUTBOX + " (Topic, Payload, CreatedAt, Status) SELECT Topic, Payload,"
                    + " DATEADD(second, -" + rows + ", CreatedAt), (Status + 1 + " + rows % 3 + ") % 4 FROM " + OUTBOX);
        }
        database.execute("UPDATE " + OUTBOX + " SET IsProcessed = 1, ProcessedAt = CreatedAt WHERE Status = 2");
    }
}
