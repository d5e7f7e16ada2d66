package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.testkit.PostgresExtension;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What must not be read, however much of it there is. */
class BacklogCostIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(LargeTables::fill);

    private LargeTables tables;

    @BeforeEach
    void open(DataSource dataSource) throws SQLException {
        tables = new LargeTables(dataSource);
    }

    @AfterEach
    void close() throws SQLException {
        tables.close();
    }

    @Test
    void aHotKeysBacklogIsNotRead() throws SQLException {
        try (Statement statement = tables.connection.createStatement()) {
            statement.execute("""
                    INSERT INTO outbox (work_item_id, topic, message_key, payload, attempt_count, due_on)
                    SELECT gen_random_uuid(), 'orders', 'hot', repeat('x', 100), CASE n WHEN 1 THEN 1 ELSE 0 END,
                        CASE n WHEN 1 THEN statement_timestamp() + interval '1 hour' END
                    FROM generate_series(1, 10000) AS n
                    """);
            LargeTables.vacuum(statement, "outbox");
        }
        AdminDatabase database = new AdminDatabase(tables.single, Map.of(TableKind.OUTBOX, TableName.parse("outbox")));

        String entries = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'outbox'";
        long before = tables.counted(entries);
        List<BlockedKey> blocked = database.run(
                "look", (session, found) -> new StatusTable(session, found.of(TableKind.OUTBOX)).blocked());

        assertThat(blocked).singleElement().satisfies(key -> {
            assertThat(key.key()).isEqualTo("hot");
            assertThat(key.waiting()).isEqualTo(1_000);
        });
        assertThat(tables.counted(entries) - before).isLessThan(5_000);
    }

    @Test
    void aBacklogThatAllBacksOffIsNotRead() throws SQLException {
        try (Statement statement = tables.connection.createStatement()) {
            statement.execute("""
                    INSERT INTO outbox (work_item_id, topic, message_key, payload, attempt_count, due_on)
                    SELECT gen_random_uuid(), 'orders', 'key-' || n, repeat('x', 100), 1,
                        statement_timestamp() + interval '1 hour'
                    FROM generate_series(1, 30000) AS n
                    """);
            statement.execute("VACUUM outbox"); // the planner has not heard of the outage yet
        }
        AdminDatabase database = new AdminDatabase(tables.single, Map.of(TableKind.OUTBOX, TableName.parse("outbox")));

        String entries = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'outbox'";
        long before = tables.counted(entries);
        Optional<Duration> oldest = database.run(
                "look", (session, found) -> new StatusTable(session, found.of(TableKind.OUTBOX)).oldestDue());

        assertThat(oldest).isEmpty();
        assertThat(tables.counted(entries) - before).isLessThan(15_000);
    }

    @Test
    void anItemThatIsThereIsNotLookedForAmongTheDead() throws SQLException {
        ItemRef ref = new ItemRef(
                TableKind.INBOX, tables.value("SELECT work_item_id FROM inbox WHERE message_id = 'done-7'"));

        String scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'inbox_dead'";
        long before = tables.counted(scans);
        assertThat(tables.admin.deadLetters().show(ref)).isPresent();
        assertThat(tables.admin.deadLetters().showWithPayload(ref)).isPresent();
        assertThat(tables.admin.lookup().byId(ref.id())).isPresent();

        assertThat(tables.counted(scans) - before).isZero();
    }

    @Test
    void aDiscardFindsRecordsByWhenTheyDied() throws SQLException {
        try (Statement statement = tables.connection.createStatement()) {
            statement.execute("""
                    INSERT INTO inbox (work_item_id, consumer, source, message_id, status, processed_on)
                    SELECT gen_random_uuid(), 'billing', 'shop', 'record-' || n, 3,
                        statement_timestamp() + n * interval '1 microsecond'
                    FROM generate_series(1, 10000) AS n
                    """);
            LargeTables.vacuum(statement, "inbox");
        }
        List<Item> first = tables.admin
                .deadLetters()
                .list(DeadFilter.all().in(TableKind.INBOX), Page.first(2))
                .items();
        AdminDatabase database = new AdminDatabase(tables.single, Map.of(TableKind.INBOX, TableName.parse("inbox")));

        String pages =
                "SELECT idx_blks_read + idx_blks_hit FROM pg_statio_user_indexes WHERE indexrelname = 'inbox_dead'";
        long before = tables.counted(pages);
        Set<ItemRef> discarded = database.run(
                "discard",
                (session, tables) ->
                        new DeadTable(session, tables.of(TableKind.INBOX)).discard(first, Discard.by("anna", "why")));

        assertThat(discarded).hasSize(2);
        assertThat(tables.counted(pages) - before).isLessThan(30);
    }
}
