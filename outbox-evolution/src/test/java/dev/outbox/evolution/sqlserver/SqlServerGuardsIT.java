package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A phase of an outbox refuses to run while something is in its way, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerGuardsIT extends WithLegacyOutbox {
    @Test
    void aPhaseThatMustNotComeYetIsRefusedWithTheReason() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("is in phase 0 and cannot go to phase 2");
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows are not backfilled; run the backfill");
        upgrade.backfill().run(migration());
        upgrade.apply(migration(), Phase.DUAL);

        transaction(tx -> old.enqueue(tx, "orders", "by an old producer"));
        Upgrade careful = upgrade.quietFor(Duration.ofMinutes(10));
        assertThatThrownBy(() -> careful.apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows that an old application stored are not backfilled")
                .hasMessageContaining("1 rows were written by an old application within the last PT10M");
        upgrade.backfill().run(migration());
        transaction(tx -> old.claim(tx, UUID.randomUUID(), 1));
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows were written by an old application");
        database.execute("DELETE FROM " + table);
        assertThatThrownBy(() -> upgrade.refreshInterval(Duration.ofHours(1)).apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("it came to phase 2 less than PT2H ago");
        database.execute("DROP VIEW IF EXISTS old_report");
        database.execute("CREATE VIEW old_report AS SELECT CreatedAt FROM " + table);
        try {
            upgrade.apply(migration(), Phase.FLIPPED);
            assertThatThrownBy(() -> upgrade.apply(migration(), Phase.CLEAN))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageMatching("(?is).*dbo.old_report names the table and createdat.*");
        } finally {
            database.execute("DROP VIEW IF EXISTS old_report");
        }
    }

    /** What came between the report and the lock is found under the lock. */
    @Test
    void theFlipItselfRefusesARowThatAnOldProducerHasJustStored() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        go(Phase.DUAL);
        List<String> batches = batches(Phase.FLIPPED);
        int asked = batches.indexOf("COMMIT TRANSACTION;\n");
        run(migration(), batches.subList(0, asked + 1));
        transaction(tx -> old.enqueue(tx, "orders", "late"));

        assertThatThrownBy(() -> run(migration(), batches.subList(asked + 1, batches.size())))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("rows that an old application stored are not backfilled");
        assertThat(upgrade.phase(migration())).isEqualTo(Phase.DUAL);
    }

    @Test
    void theOldMessageIdIsNotDroppedWhileARowHasNoOther() {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        go(Phase.FLIPPED);
        List<String> id = database.query("SELECT MessageIdNew FROM " + table);
        database.execute("UPDATE " + table + " SET MessageIdNew = NULL");
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.CLEAN))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows have their message id in the old column only");
        upgrade.backfill().run(migration());
        upgrade.apply(migration(), Phase.CLEAN);

        assertThat(database.query("SELECT MessageId FROM " + table)).isEqualTo(id);
    }

    @Test
    void whatHoldsOnToTheTableIsRefusedBeforeAnythingIsChanged() {
        new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        database.execute("ALTER TABLE " + table + " ADD CONSTRAINT retries CHECK (RetryCount >= 0)");
        database.execute("DROP PROCEDURE IF EXISTS old_retry");
        database.execute("CREATE PROCEDURE old_retry AS UPDATE " + table + " SET RetryCount = 0");
        database.execute("DROP TABLE IF EXISTS x_sent");
        database.execute("CREATE TABLE x_sent (Id uniqueidentifier CONSTRAINT sent REFERENCES " + table + " (Id))");
        try {
            go(Phase.DUAL);
            assertThatThrownBy(() -> upgrade.apply(migration(), Phase.FLIPPED))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageMatching("(?is).*procedure or trigger dbo.old_retry names the table and retrycount.*")
                    .hasMessageMatching("(?is).*check constraint \\w+ names retrycount.*");
            assertThat(upgrade.report(migration()).obstacles(Phase.CLEAN).toString())
                    .containsIgnoringCase("of dbo.x_sent refers to the table");
        } finally {
            database.execute("DROP TABLE x_sent");
            database.execute("DROP PROCEDURE old_retry");
        }
    }

    /** As most tools do: they say what went wrong and go on. */
    @Test
    void whoRunsAScriptOnAfterItsRefusalChangesNothing() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        go(Phase.FLIPPED);
        List<String> batches = batches(Phase.CLEAN);
        database.execute("UPDATE " + table + " SET MessageIdNew = NULL");
        List<String> before = catalog(database, table);
        try (Connection connection = migration().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET NOEXEC ON");
            statement.execute("CREATE TABLE x_probe (Id int)");
            statement.execute("SET NOEXEC OFF");
            assumeTrue(
                    database.query("SELECT OBJECT_ID(N'x_probe')").contains(null),
                    "the server does not know SET NOEXEC");
            List<String> errors = new ArrayList<>();
            for (String batch : batches) {
                try {
                    statement.execute(batch);
                } catch (SQLException e) {
                    errors.add(e.getMessage());
                }
            }
            assertThat(errors.get(0)).contains("rows have their message id in the old column only");
            statement.execute("SET XACT_ABORT OFF");
        } finally {
            database.execute("DROP TABLE IF EXISTS x_probe");
        }
        assertThat(catalog(database, table)).isEqualTo(before);
    }

    private List<String> batches(Phase phase) {
        return List.of(upgrade.render(migration(), phase).split("(?m)^GO\\R"));
    }

    static void run(DataSource dataSource, List<String> batches) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            try {
                for (String batch : batches) {
                    statement.execute(batch.strip());
                }
            } finally {
                statement.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
                statement.execute("SET XACT_ABORT OFF");
                statement.execute("SET LOCK_TIMEOUT -1");
            }
        }
    }
}
