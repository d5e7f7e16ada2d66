package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What receive and enqueue do to the caller's connection and to the table, beyond the contract. */
class InboxStatementsIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table = DATABASE.newInboxTable();
    private final Inbox inbox = builder().build();
    private Connection tx;

    private PostgresInbox.Builder builder() {
        return PostgresInbox.builder(DATABASE.pool())
                .table(table)
                .consumer("billing")
                .onConflict(OnConflict.ANSWER);
    }

    @BeforeEach
    void begin() throws SQLException {
        tx = DATABASE.server().dataSource().getConnection();
        tx.setAutoCommit(false);
    }

    @AfterEach
    void end() throws SQLException {
        tx.rollback();
        tx.close();
    }

    private static Incoming incoming(String id) {
        return Incoming.from("shop", id).payload(id);
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    private String lockTimeout() throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("SHOW lock_timeout")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void everyCallIsOneRoundTrip() throws SQLException {
        RecordedConnection recorded = new RecordedConnection(tx);

        List<Kind> kinds = new ArrayList<>();
        for (Incoming incoming :
                List.of(incoming("m-1"), incoming("m-1"), incoming("m-1").payload("forged"))) {
            kinds.add(inbox.receive(recorded.connection(), incoming).kind());
        }
        List<Receipt> receipts = inbox.enqueueAll(
                recorded.connection(),
                IntStream.range(0, 100)
                        .mapToObj(i -> incoming("m-" + i).topic("orders").key("k-" + i % 7))
                        .toList());

        assertThat(kinds).containsExactly(Kind.FIRST, Kind.DUPLICATE, Kind.CONFLICT);
        assertThat(receipts).filteredOn(Receipt::isFirst).hasSize(99);
        assertThat(recorded.executed()).hasSize(4);
        assertThat(recorded.ended()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SET lock_timeout = 0", "SET lock_timeout = '70s'", "SET LOCAL lock_timeout = '1234ms'"})
    void theCallersLockTimeoutIsLeftAsItWas(String setting) throws SQLException {
        execute(setting);
        String before = lockTimeout();

        inbox.receive(tx, incoming("m-1"));
        inbox.receive(tx, incoming("m-1"));
        inbox.enqueue(tx, incoming("m-2").topic("orders"));
        inbox.enqueue(tx, incoming("m-3").topic("orders").key("k"));
        inbox.enqueueAll(
                tx,
                List.of(
                        incoming("m-3").topic("orders"),
                        incoming("m-4").topic("orders"),
                        incoming("m-4").topic("orders"),
                        incoming("m-2").topic("orders")));

        assertThat(lockTimeout()).isEqualTo(before);
        tx.commit();
        assertThat(lockTimeout()).isEqualTo(setting.contains("LOCAL") ? "0" : before);
    }

    @Test
    void aWaitThatTookTooLongLeavesTheLockTimeoutAsItWasAfterASavepoint() throws SQLException {
        Inbox impatient = builder().lockTimeout(Duration.ofMillis(20)).build();
        execute("SET lock_timeout = '70s'");
        execute("SAVEPOINT before");
        try (Connection rival = DATABASE.server().dataSource().getConnection()) {
            rival.setAutoCommit(false);
            inbox.receive(rival, incoming("m-1"));

            OutboxException e =
                    catchThrowableOfType(OutboxException.class, () -> impatient.receive(tx, incoming("m-1")));

            assertThat(e.sqlState()).isEqualTo("55P03");
            assertThat(e)
                    .hasMessageStartingWith("receive into public." + table + " failed, because another transaction that"
                            + " holds the same message or key took too long; roll back and try again: ");
            rival.rollback(); // when a closed connection does so is the server's affair
        }
        execute("ROLLBACK TO before");
        assertThat(lockTimeout()).isEqualTo("70s");
        assertThat(impatient.receive(tx, incoming("m-1")).isFirst()).isTrue();
    }

    @Test
    void aShorterLockTimeoutOfTheCallerWins() throws SQLException {
        Inbox patient = builder().lockTimeout(Duration.ofDays(1)).build();
        execute("SET LOCAL lock_timeout = '20ms'");
        try (Connection rival = DATABASE.server().dataSource().getConnection()) {
            rival.setAutoCommit(false);
            inbox.receive(rival, incoming("m-1"));

            assertThatThrownBy(() -> patient.receive(tx, incoming("m-1")))
                    .isInstanceOfSatisfying(
                            OutboxException.class, e -> assertThat(e.sqlState()).isEqualTo("55P03"));
        }
    }

    @Test
    void theWaitForAKeyIsBoundedToo() throws SQLException {
        Inbox impatient = builder().lockTimeout(Duration.ofMillis(20)).build();
        try (Connection rival = DATABASE.server().dataSource().getConnection()) {
            rival.setAutoCommit(false);
            inbox.enqueue(rival, incoming("m-1").topic("orders").key("k"));

            OutboxException e = catchThrowableOfType(
                    OutboxException.class,
                    () -> impatient.enqueue(tx, incoming("m-2").topic("orders").key("k")));

            assertThat(e.sqlState()).isEqualTo("55P03");
            assertThat(e.isRetryable()).isTrue();
        }
    }

    @Test
    void theWaitForEveryOneOfSeveralMessagesIsBounded() throws SQLException {
        Inbox impatient = builder().lockTimeout(Duration.ofMillis(50)).build();
        // far longer than the inbox's, so that a wait under it is told by its own error
        execute("SET statement_timeout = '5s'");
        try (Connection rival = DATABASE.server().dataSource().getConnection()) {
            rival.setAutoCommit(false);
            inbox.receive(rival, incoming("m-2"));

            OutboxException e = catchThrowableOfType(
                    OutboxException.class,
                    () -> impatient.enqueueAll(
                            tx,
                            List.of(
                                    incoming("m-1").topic("orders"),
                                    incoming("m-2").topic("orders"))));

            assertThat(e.sqlState()).isEqualTo("55P03");
            assertThat(e.isRetryable()).isTrue();
        }
    }

    @Test
    void theSequenceOfAKeyIsDrawnInTheOrderOfItsCommits() throws Exception {
        try (Background background = new Background(DATABASE)) {
            inbox.enqueue(tx, incoming("first").topic("orders").key("k"));
            Future<Receipt> second = background.run(() -> {
                try (Connection other = DATABASE.server().dataSource().getConnection()) {
                    other.setAutoCommit(false);
                    Receipt receipt = inbox.enqueue(
                            other, incoming("second").topic("orders").key("k"));
                    other.commit();
                    return receipt;
                }
            });
            background.awaitWaiting("advisory", 1);
            inbox.enqueue(tx, incoming("first too").topic("orders").key("k"));
            tx.commit();
            Background.result(second);
        }

        assertThat(DATABASE.query("SELECT message_id FROM " + table + " ORDER BY sequence"))
                .containsExactly("first", "first too", "second");
    }

    @Test
    void manyKeysInOneCallOrInSeveralTakeABoundedNumberOfLocks() throws SQLException {
        inbox.enqueueAll(tx, keyed("call", 2_000));
        assertThat(advisoryLocks()).isOne();
        tx.commit();

        for (int i = 0; i < 10; i++) {
            inbox.enqueueAll(tx, keyed("call-" + i, 100));
        }
        assertThat(advisoryLocks()).isLessThan(PostgresKeyLocks.MOST + 10);
        tx.commit();

        assertThat(DATABASE.count(table, "message_key IS NOT NULL")).isEqualTo(3_000);
    }

    private static List<Incoming> keyed(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> incoming(name + "-" + i).topic("orders").key(name + "-" + i))
                .toList();
    }

    private static long advisoryLocks() {
        return DATABASE.count(
                "pg_locks JOIN pg_database d ON d.oid = database",
                "locktype = 'advisory' AND datname = current_database()");
    }

    @Test
    void aRepetitionTouchesNoIndex() throws SQLException {
        DATABASE.execute("ALTER TABLE " + table + " SET (autovacuum_enabled = off)");
        inbox.receive(tx, incoming("m-1"));
        tx.commit();
        List<String> before = indexSizes();

        for (int i = 0; i < 2_000; i++) {
            inbox.receive(tx, incoming("m-1"));
            tx.commit();
        }

        assertThat(indexSizes()).isEqualTo(before);
        assertThat(inbox.get("shop", "m-1").orElseThrow().receipts()).isEqualTo(2_001);
    }

    private List<String> indexSizes() {
        return DATABASE.query("SELECT indexrelid::regclass || ' ' || pg_relation_size(indexrelid) FROM pg_index"
                + " WHERE indrelid = '" + table + "'::regclass ORDER BY 1");
    }

    @Test
    void aRecordOfReceiveKeepsNothingOfTheContent() throws SQLException {
        inbox.receive(
                tx, incoming("m-1").payload("secret").header("h", "secret").contentType("secret/secret"));
        tx.commit();

        assertThat(DATABASE.query("SELECT r::text FROM " + table + " r"))
                .singleElement()
                .asString()
                .doesNotContain("secret");
    }

    @Test
    void anUnknownHashFitsAny() throws SQLException {
        inbox.receive(tx, incoming("m-1"));
        execute("UPDATE " + table + " SET hash = NULL");

        Receipt receipt = inbox.receive(tx, incoming("m-1").payload("whatever"));

        assertThat(receipt.kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(receipt.receipts()).isEqualTo(2);
    }

    @Test
    void noUnfinishedRowCanBeWithoutATopic() {
        assertThatThrownBy(() -> DATABASE.execute(
                        "INSERT INTO " + table + " (work_item_id, consumer, source, message_id, status)"
                                + " VALUES (gen_random_uuid(), 'billing', 'shop', 'm-1', 0)"))
                .hasStackTraceContaining(table + "_finished");
    }

    @Test
    void theLargestIdentityIsTaken() throws SQLException {
        Inbox wide = PostgresInbox.builder(DATABASE.pool())
                .table(table)
                .consumer("漢".repeat(255))
                .build();
        Incoming widest = Incoming.from("漢".repeat(255), "漢".repeat(255))
                .topic("漢".repeat(255))
                .key("漢".repeat(255))
                .payload("");

        assertThat(wide.enqueue(tx, widest).isFirst()).isTrue();
        assertThat(wide.enqueue(tx, widest).kind()).isEqualTo(Kind.DUPLICATE);
    }

    @Test
    void whatNoTextColumnKeepsIsRefused() {
        for (Incoming incoming : List.of(Incoming.from("a\0b", "m"), Incoming.from("s", "a\0b"))) {
            assertThatThrownBy(() -> inbox.receive(tx, incoming.payload("")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("contains U+0000 at position 1");
        }
        assertThatThrownBy(() -> builder().consumer("a\0b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("consumer contains U+0000");
    }
}
