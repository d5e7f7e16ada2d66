package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What enqueue refuses, in which words, and that nothing is written then. */
class EnqueueRefusalsIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final String SECRET = "4111-1111-1111-1111";

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).maxPayload(10).build();
    private Connection tx;

    @BeforeEach
    void begin() throws SQLException {
        tx = DATABASE.server().dataSource().getConnection();
        tx.setAutoCommit(false);
    }

    @AfterEach
    void nothingWasWritten() throws SQLException {
        if (!tx.isClosed()) {
            if (!tx.getAutoCommit()) {
                tx.rollback();
            }
            tx.close();
        }
    }

    private static Message message() {
        return Message.to("orders").key("k").payload("p");
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Refused alike by both ways in, the second with a good message before it; and nothing gets stored. */
    private void refused(Message message, Class<? extends RuntimeException> type, String words) throws SQLException {
        RecordedConnection recorded = new RecordedConnection(tx);
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> outbox.enqueue(recorded.connection(), message),
                () -> outbox.enqueueAll(recorded.connection(), Arrays.asList(message(), message)))) {
            assertThatThrownBy(call).isInstanceOf(type).hasMessage(words);
        }
        assertThat(recorded.executed()).isEmpty();
        if (!tx.isClosed() && !tx.getAutoCommit()) {
            tx.commit();
        }
        assertThat(DATABASE.count(table, "true")).isZero();
    }

    @Test
    void anAutoCommitConnection() throws SQLException {
        tx.setAutoCommit(true);

        refused(
                message(),
                OutboxException.class,
                "enqueue needs an open transaction, but the connection is in auto-commit mode; call"
                        + " setAutoCommit(false) first");
    }

    @Test
    void aClosedConnection() throws SQLException {
        tx.close();

        refused(message(), OutboxException.class, "enqueue needs an open transaction, but the connection is closed");
    }

    @Test
    void aReadOnlyConnection() throws SQLException {
        tx.setReadOnly(true);

        refused(
                message(),
                OutboxException.class,
                "enqueue needs a transaction that may write, but the connection is read-only; call"
                        + " setReadOnly(false) before the transaction starts");
    }

    @Test
    void nothingWhereSomethingMustBe() throws SQLException {
        refused(null, NullPointerException.class, "message must not be null");
        assertThatThrownBy(() -> outbox.enqueue(null, message()))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tx must not be null");
        assertThatThrownBy(() -> outbox.enqueueAll(null, List.of(message(), message())))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tx must not be null");
        assertThatThrownBy(() -> outbox.enqueueAll(tx, null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("messages must not be null");
        assertThatThrownBy(() -> outbox.enqueueAll(tx, Collections.singletonList(null)))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("message must not be null");
    }

    @Test
    void aMessageWithoutPayload() throws SQLException {
        refused(
                Message.to("orders"),
                IllegalArgumentException.class,
                "message to orders has no payload; call payload(...), with an empty text if there is no content");
    }

    @Test
    void anOversizePayloadCountedInBytes() throws SQLException {
        String words = "payload of the message to orders has 11 bytes, the limit is 10; store it elsewhere and send a"
                + " reference, or raise maxPayload(...)";
        refused(Message.to("orders").payload("x".repeat(11)), IllegalArgumentException.class, words);
        refused(Message.to("orders").payload("漢漢漢é"), IllegalArgumentException.class, words);
        refused(Message.to("orders").payload("🎉🎉漢"), IllegalArgumentException.class, words);
        refused(Message.to("orders").payload(new byte[11]), IllegalArgumentException.class, words);
    }

    @Test
    void aPayloadAtTheLimitIsTaken() throws SQLException {
        assertThat(outbox.enqueueAll(
                                tx,
                                List.of(
                                        Message.to("orders").payload("漢漢漢x"),
                                        Message.to("orders").payload("🎉🎉é"),
                                        Message.to("orders").payload(new byte[10])))
                        .stored())
                .hasSize(3);
    }

    static Stream<Arguments> textFields() {
        return Stream.of(
                field("topic", text -> Message.to(text).payload("p")),
                field("key", text -> message().key(text)),
                field("id", text -> message().id(text)),
                field("correlationId", text -> message().correlationId(text)),
                field("tenantId", text -> message().tenantId(text)),
                field("contentType", text -> message().contentType(text)),
                field("payload", text -> message().payload(text)));
    }

    private static Arguments field(String name, Function<String, Message> set) {
        return Arguments.of(name, set);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("textFields")
    void whatNoTextColumnKeeps(String field, Function<String, Message> set) throws SQLException {
        refused(
                set.apply("a\0b"),
                IllegalArgumentException.class,
                field + " contains U+0000 at position 1, which text columns cannot store; remove it, or send the"
                        + " payload as bytes");
        for (String unpaired : List.of("é\uD83C", "é\uDF89x", "é\uD83Cx", "é\uD83C\uD83C")) {
            refused(
                    set.apply(unpaired),
                    IllegalArgumentException.class,
                    field
                            + " contains an unpaired surrogate at position 1, which is not a character; remove it, or send"
                            + " the payload as bytes");
        }
    }

    @Test
    void aTransactionThatTheDatabaseMadeReadOnly() throws SQLException {
        execute("SET TRANSACTION READ ONLY");

        OutboxException e = catchThrowableOfType(OutboxException.class, () -> outbox.enqueue(tx, message()));

        assertThat(e)
                .hasMessage("enqueue into public." + table + " failed: ERROR: cannot execute INSERT in a read-only"
                        + " transaction [SQLState 25006]");
        assertThat(e.sqlState()).isEqualTo("25006");
        assertThat(e.isRetryable()).as("the primary may have become a replica").isTrue();
    }

    @Test
    void aTableThatIsGone() {
        DATABASE.execute("DROP TABLE " + table);

        OutboxException e = catchThrowableOfType(OutboxException.class, () -> outbox.enqueue(tx, message()));

        assertThat(e.sqlState()).isEqualTo("42P01");
        assertThat(e.isRetryable()).isFalse();
        assertThat(e).hasMessageStartingWith("enqueue into public." + table + " failed: ");
    }

    @Test
    void aConcurrentRepetitionUnderRepeatableReadIsWorthATry() throws SQLException {
        Outbox relaxed = PostgresOutbox.builder(DATABASE.pool())
                .table(table)
                .ordering(Ordering.RELAXED)
                .build();
        tx.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        execute("SELECT 1 FROM " + table);
        DATABASE.commit(relaxed, message().id("a"));

        OutboxException e = catchThrowableOfType(
                OutboxException.class, () -> relaxed.enqueue(tx, message().id("a")));

        assertThat(e.sqlState()).isEqualTo("40001");
        assertThat(e.isRetryable()).isTrue();
    }

    @Test
    void noErrorQuotesThePayload() throws SQLException {
        Outbox roomy = PostgresOutbox.builder(DATABASE.pool()).table(table).build();
        Message secret = Message.to("orders").payload(SECRET).header("card", SECRET);
        List<String> refusals = List.of(
                // the detail of a violated check quotes the row
                "ALTER TABLE %1$s ADD CONSTRAINT no_orders CHECK (topic <> 'orders')",
                // the message itself does
                "CREATE TRIGGER refuse BEFORE INSERT ON %1$s FOR EACH ROW EXECUTE FUNCTION refuse_%1$s()",
                "ALTER TABLE %1$s ADD COLUMN number int GENERATED ALWAYS AS (payload::int) STORED");
        DATABASE.execute("CREATE FUNCTION refuse_" + table + "() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'refused: %', NEW; END $$");
        for (String refusal : refusals) {
            execute(refusal.formatted(table));
            for (List<Message> messages : List.of(List.of(secret), List.of(secret, secret))) {
                execute("SAVEPOINT before");
                OutboxException e = catchThrowableOfType(OutboxException.class, () -> roomy.enqueueAll(tx, messages));
                assertThat(e.getMessage()).doesNotContain(SECRET).contains("[SQLState ");
                assertThat(e.isRetryable()).isFalse();
                assertThat(e).hasStackTraceContaining("SQLState");
                assertThat(stackTrace(e)).doesNotContain(SECRET);
                execute("ROLLBACK TO before");
            }
            tx.rollback();
        }
    }

    private static String stackTrace(Throwable e) {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
