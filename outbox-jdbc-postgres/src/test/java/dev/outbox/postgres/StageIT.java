package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Stage;
import dev.outbox.WorkItem;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.Notes.Note;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of staged messages when a unit of work succeeds, fails, is repeated or given up. */
class StageIT {
    private static EmbeddedDatabase database;
    private static DataSource dataSource;

    private final Notes notes = new Notes();
    private Outbox outbox;
    private Stage stage;
    private Connection tx;

    @BeforeAll
    static void createTable() {
        database = EmbeddedDatabase.create();
        dataSource = database.pool(4);
        OutboxMigrations.install(dataSource);
        query("CREATE TABLE orders (id text PRIMARY KEY)");
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    @BeforeEach
    void begin() throws SQLException {
        query("TRUNCATE outbox RESTART IDENTITY");
        query("TRUNCATE orders");
        outbox = PostgresOutbox.builder(dataSource).serializer(notes).build();
        stage = outbox.stage();
        tx = dataSource.getConnection();
        tx.setAutoCommit(false);
    }

    @AfterEach
    void end() throws SQLException {
        tx.close();
    }

    /** Each with the same key, so that their order counts. */
    private Message add(String text) {
        return stage.add(Message.to("notes").key("k").body(new Note(text)));
    }

    private static List<String> stored() {
        return query("SELECT payload FROM outbox ORDER BY sequence");
    }

    @Test
    void allSerializeAllAreStoredOnCommit() throws SQLException {
        Message first = add("1");
        add("2");
        add("3");

        Enqueued enqueued = stage.flush(tx);

        assertThat(enqueued.stored()).hasSize(3).startsWith(first.id());
        assertThat(stored()).isEmpty();
        tx.commit();
        stage.committed();
        assertThat(stored()).containsExactly("1", "2", "3");
        assertThat(stage.isEmpty()).isTrue();
    }

    @Test
    void theThirdOfFiveFailsAndNothingIsLostOrDoubledWhenItIsRepaired() throws SQLException {
        notes.broken.add("3");
        for (String text : List.of("1", "2", "3", "4", "5")) {
            add(text);
        }

        assertThatThrownBy(() -> stage.flush(tx)).hasMessage("cannot encode a Note");
        tx.commit();
        stage.committed();
        assertThat(stored()).isEmpty();

        notes.broken.clear();
        stage.flush(tx);
        tx.commit();
        stage.committed();
        assertThat(stored()).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void aMessageTheOutboxRefusesStaysStagedLikeOneThatCannotBeEncoded() throws SQLException {
        add("1");
        add("\u0000");
        add("3");

        assertThatThrownBy(() -> stage.flush(tx)).hasMessageContaining("U+0000");
        tx.commit();

        assertThat(stored()).isEmpty();
        assertThat(stage.isEmpty()).isFalse();
    }

    @Test
    void theSaveFailsAndTheSameStageIsFlushedAgain() throws SQLException {
        add("1");
        stage.flush(tx);
        insertOrder("o-1");
        assertThatThrownBy(() -> insertOrder("o-1")).isInstanceOf(SQLException.class);
        tx.rollback();
        assertThat(stored()).isEmpty();

        add("2");
        insertOrder("o-1");
        assertThat(stage.flush(tx).stored()).hasSize(2);
        tx.commit();
        stage.committed();

        assertThat(stored()).containsExactly("1", "2");
        assertThat(query("SELECT id FROM orders")).containsExactly("o-1");
    }

    @Test
    void theFlushItselfFailsAndIsRepeated() throws SQLException {
        add("1");
        add("2");
        assertThatThrownBy(() -> insertOrder(null)).isInstanceOf(SQLException.class);

        assertThatThrownBy(() -> stage.flush(tx))
                .isInstanceOfSatisfying(
                        OutboxException.class, e -> assertThat(e.sqlState()).isEqualTo("25P02"));
        tx.rollback();
        stage.flush(tx);
        tx.commit();
        stage.committed();

        assertThat(stored()).containsExactly("1", "2");
    }

    @Test
    void theSaveFailsAndTheStageIsDropped() throws SQLException {
        add("1");
        insertOrder("o-1");
        stage.flush(tx);
        tx.rollback();

        Stage next = outbox.stage();
        assertThat(next.flush(tx).stored()).isEmpty();
        tx.commit();

        assertThat(stored()).isEmpty();
        assertThat(query("SELECT id FROM orders")).isEmpty();
    }

    @Test
    void aMessageUnderALeaseIsSkippedAndOneOfAStuckWorkerIsPickedUp() throws SQLException {
        add("1");
        stage.flush(tx);
        tx.commit();
        assertThat(claim(outbox.source())).hasSize(1);

        assertThat(claim(outbox.source())).isEmpty();
        query("UPDATE outbox SET locked_until = statement_timestamp() - interval '1 second'");
        List<WorkItem> found = claim(outbox.source());

        assertThat(found).extracting(WorkItem::payload).containsExactly("1");
        assertThat(found).extracting(WorkItem::attempt).containsExactly(2);
    }

    @Test
    void theInstalledTableHasAnIndexForWaitingAndOneForLeasedRows() {
        assertThat(query("SELECT indexname FROM pg_indexes WHERE tablename = 'outbox'"))
                .contains("outbox_ready", "outbox_due", "outbox_key", "outbox_leased");
    }

    @Test
    void aMessageIsStoredUnderTheIdItWasStagedWith() throws SQLException {
        Message message = add("1");

        stage.flush(tx);
        tx.commit();

        assertThat(claim(outbox.source())).extracting(WorkItem::messageId).containsExactly(message.id());
    }

    @Test
    void flushedTwiceInOneTransactionIsStoredOnce() throws SQLException {
        Message first = add("1");
        stage.flush(tx);
        Message second = add("2");
        Enqueued again = stage.flush(tx);
        tx.commit();
        stage.committed();

        assertThat(again).isEqualTo(new Enqueued(List.of(second.id()), List.of(first.id())));
        assertThat(stored()).containsExactly("1", "2");
    }

    @Test
    void whatASavepointTookBackIsStoredByTheNextFlush() throws SQLException {
        Savepoint before = tx.setSavepoint();
        add("1");
        stage.flush(tx);
        tx.rollback(before);
        add("2");
        stage.flush(tx);
        tx.commit();
        stage.committed();

        assertThat(stored()).containsExactly("1", "2");
    }

    @Test
    void aCommitOfUnknownOutcomeThatHappenedIsNotRepeated() throws SQLException {
        Message message = add("1");
        stage.flush(tx);
        tx.commit(); // and the news of it got lost
        deliver();

        Enqueued again = stage.flush(tx);
        tx.commit();
        stage.committed();

        assertThat(again.alreadyThere()).containsExactly(message.id());
        assertThat(stored()).containsExactly("1");
        assertThat(claim(outbox.source())).isEmpty();
    }

    @Test
    void theSecondUnitOfWorkOfAStageStoresOnlyItsOwn() throws SQLException {
        add("1");
        stage.flush(tx);
        tx.commit();
        stage.committed();
        Message second = add("2");

        assertThat(stage.flush(tx)).isEqualTo(new Enqueued(List.of(second.id()), List.of()));
        tx.commit();
        assertThat(stored()).containsExactly("1", "2");
    }

    @Test
    void theCurrentTransactionCommitsTheStage() throws SQLException {
        HookedTransaction current = new HookedTransaction(tx);
        add("1");
        stage.flush(current);
        current.rollback();
        assertThat(stage.isEmpty()).isFalse();

        stage.flush(current);
        current.commit();

        assertThat(stage.isEmpty()).isTrue();
        assertThat(stored()).containsExactly("1");
    }

    private void deliver() {
        Source source = outbox.source();
        var claim = source.claim(new ClaimRequest(10, Duration.ofSeconds(30), 10, Set.of(), "test"));
        source.settle(claim.items().stream()
                .map(item -> Settlement.done(claim.lease(item)))
                .toList());
    }

    private static List<WorkItem> claim(Source source) {
        return source.claim(new ClaimRequest(10, Duration.ofSeconds(30), 10, Set.of(), "test"))
                .items();
    }

    private void insertOrder(String id) throws SQLException {
        try (PreparedStatement statement = tx.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            statement.setString(1, id);
            statement.execute();
        }
    }

    private static List<String> query(String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            List<String> values = new ArrayList<>();
            if (statement.execute(sql)) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        values.add(rows.getString(1));
                    }
                }
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
