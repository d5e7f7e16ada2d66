package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.CloudEventHeaders;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.Notes.Note;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.EmbeddedDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PayloadIT {
    private static EmbeddedDatabase database;
    private static DataSource dataSource;

    @BeforeAll
    static void createTable() {
        database = EmbeddedDatabase.create();
        dataSource = database.pool(4);
        OutboxMigrations.install(dataSource);
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    @BeforeEach
    void empty() throws SQLException {
        PostgresOutbox.create(dataSource).transaction(dataSource, PayloadIT::truncate);
    }

    private static boolean truncate(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            return statement.execute("TRUNCATE outbox");
        }
    }

    private static PostgresOutbox.Builder outbox() {
        return PostgresOutbox.builder(dataSource);
    }

    private static void commit(Outbox outbox, Message... messages) {
        outbox.transaction(dataSource, tx -> outbox.enqueueAll(tx, List.of(messages)));
    }

    private static List<WorkItem> claim(Outbox outbox) {
        return outbox.source()
                .claim(new ClaimRequest(100, Duration.ofSeconds(30), 10, Set.of(), "test"))
                .items();
    }

    /** Stores the message and claims it. */
    private static WorkItem roundTrip(Outbox outbox, Message message) {
        commit(outbox, message);
        List<WorkItem> items = claim(outbox);
        assertThat(items).hasSize(1);
        return items.get(0);
    }

    @Test
    void aBodyIsDecodedByTheSerializerOfTheOutbox() {
        Outbox outbox = outbox().serializer(new Notes()).build();

        WorkItem item = roundTrip(outbox, Message.to("notes").body(new Note("hello")));

        assertThat(item.payload()).isEqualTo("hello");
        assertThat(item.headers()).containsExactly(Map.entry("message-type", "note.v1"));
        assertThat(item.contentType()).isEqualTo("text/plain");
        assertThat(item.body(Note.class)).isEqualTo(new Note("hello"));
    }

    @Test
    void aBodyWithoutASerializerIsRefusedAndTheTransactionLivesOn() {
        Outbox outbox = outbox().build();

        outbox.transaction(dataSource, tx -> {
            assertThatThrownBy(() -> outbox.enqueue(tx, Message.to("notes").body(new Note("lost"))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("there is no serializer");
            return outbox.enqueue(tx, Message.to("notes").payload("kept"));
        });

        List<WorkItem> items = claim(outbox);
        assertThat(items).extracting(WorkItem::payload).containsExactly("kept");
        assertThatThrownBy(() -> items.get(0).body(Note.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("without a serializer");
    }

    @Test
    void oneBodyThatCannotBeEncodedKeepsTheWholeCallFromBeingStored() {
        Notes notes = new Notes();
        notes.broken.add("2");
        Outbox outbox = outbox().serializer(notes).build();
        List<Message> messages = List.of(
                Message.to("notes").body(new Note("1")), Message.to("notes").body(new Note("2")));

        outbox.transaction(
                dataSource,
                tx -> assertThatThrownBy(() -> outbox.enqueueAll(tx, messages)).hasMessage("cannot encode a Note"));

        assertThat(claim(outbox)).isEmpty();
    }

    @Test
    void oddCharactersInHeadersSurvive() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("empty", "");
        headers.put("quotes \"'\\ /", "{\"a\":[1,\"b\"]}");
        headers.put("controls", "\u0000\u0001\b\t\n\f\r\u001F\u007F\u0085");
        headers.put("ümläut 名前 \uD83D\uDE00", "\u2028\u2029\uFEFF\uFFFF \uD83D\uDE00");
        headers.put("unpaired", "\uD800x\uDC00");
        headers.put("sql", "'; DROP TABLE outbox; -- ${x} {y} :z ?");
        headers.put("long", "x".repeat(Message.MAX_HEADER_VALUE));

        WorkItem item = roundTrip(outbox().build(), Message.to("t").payload("").headers(headers));

        assertThat(List.copyOf(item.headers().entrySet())).isEqualTo(List.copyOf(headers.entrySet()));
    }

    @Test
    void payloadsSurvive() {
        String text = "\u0001 'x' \\ \" é \uD83D\uDE00\r\n";
        byte[] bytes = {0, 1, -1, '\'', '\\'};

        commit(
                outbox().build(),
                Message.to("t").payload(text),
                Message.to("t").payload(bytes),
                Message.to("t").payload(""),
                Message.to("t").payload(new byte[0]));

        List<WorkItem> items = claim(outbox().build());
        assertThat(items.get(0).payload()).isEqualTo(text);
        assertThat(items.get(1).payloadBytes()).isEqualTo(bytes);
        assertThat(items.get(2).payload()).isEmpty();
        assertThat(items.get(3).message().isBinary()).isTrue();
        assertThat(items.get(3).payloadBytes()).isEmpty();
    }

    @Test
    void zeroInATextPayloadIsRefusedWithAWayOut() {
        assertThatThrownBy(() -> commit(outbox().build(), Message.to("t").payload("a\u0000")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("payload contains U+0000 at position 1, which text columns cannot store; remove it, or"
                        + " send the payload as bytes");
    }

    @Test
    void traceparentSurvivesAndBecomesACloudEventsAttribute() {
        String traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

        WorkItem item = roundTrip(
                outbox().build(),
                Message.to("orders.placed")
                        .key("o-1")
                        .payload("{}")
                        .header("traceparent", traceparent)
                        .header("tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"));

        assertThat(item.headers()).containsEntry("traceparent", traceparent);
        assertThat(CloudEventHeaders.http(URI.create("https://shop.example")).of(item))
                .containsEntry("ce-traceparent", traceparent)
                .containsEntry("ce-tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
                .containsEntry("ce-id", item.messageId())
                .containsEntry("ce-partitionkey", "o-1");
    }

    @Test
    void thePayloadLimitCountsBytesAndIsInclusive() {
        Outbox outbox = outbox().maxPayload(10).build();

        commit(
                outbox,
                Message.to("t").payload("\u00E9".repeat(5)),
                Message.to("t").payload(new byte[10]));

        assertThat(claim(outbox)).hasSize(2);
        assertThatThrownBy(() -> commit(outbox, Message.to("t").payload("\u00E9".repeat(5) + "x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("payload of the message to t has 11 bytes, the limit is 10; store it elsewhere and send"
                        + " a reference, or raise maxPayload(...)");
        assertThatThrownBy(() -> commit(outbox, Message.to("t").payload(new byte[11])))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aLargePayloadIsLoggedOnceWithoutItsContent() {
        Outbox outbox = outbox().warnPayload(10).build();

        String log = logOf(() -> {
            commit(outbox, Message.to("silent").payload("0123456789"));
            commit(outbox, Message.to("alone").id("m-1").payload("sesame sesame"));
            commit(outbox, Message.to("alone").id("m-1").payload("sesame sesame"));
            commit(
                    outbox,
                    Message.to("silent").payload("small"),
                    Message.to("together").id("m-2").payload(new byte[11]));
        });

        assertThat(log.lines().filter(line -> line.contains("WARN")))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .endsWith("message m-1 to alone has a payload of 13 bytes, more than warnPayload, 10"),
                        line -> assertThat(line)
                                .endsWith("message m-2 to together has a payload of 11 bytes, more than warnPayload,"
                                        + " 10"));
        assertThat(log).doesNotContain("sesame", "silent");
    }

    @Test
    void theWarningStartsAt256KibibytesAndNotAboveTheLimit() {
        Message large = Message.to("t").payload(new byte[(256 << 10) + 1]);
        Message atTheMark = Message.to("t").payload(new byte[256 << 10]);

        assertThat(logOf(() -> commit(outbox().build(), atTheMark))).isEmpty();
        assertThat(logOf(() -> commit(outbox().build(), large))).contains("WARN");
        assertThat(logOf(() ->
                        commit(outbox().maxPayload(100).build(), Message.to("t").payload(new byte[100]))))
                .isEmpty();
    }

    @Test
    void aWarningAboveTheLimitIsRefused() {
        assertThatThrownBy(() -> outbox().warnPayload(2_000).maxPayload(1_000).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("warnPayload must be at most maxPayload, 1000, was 2000");
        assertThatThrownBy(() -> outbox().warnPayload(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void headersTogetherHaveALimit() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i < 7; i++) {
            headers.put("h" + i, "x".repeat(8_192));
        }
        Outbox outbox = outbox().build();
        // 2 braces, 8 names of 2, 8 × 5 signs around them, 7 commas
        int left = Message.MAX_HEADERS - 2 - 16 - 40 - 7 - 7 * 8_192;
        Message full = Message.to("t").payload("").headers(headers).header("h7", "x".repeat(left));

        assertThat(roundTrip(outbox, full).headers()).hasSize(8);
        assertThatThrownBy(() -> commit(outbox, full.header("h7", "x".repeat(left + 1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("headers of the message to t have 65537 bytes as JSON, the limit is 65536; move large"
                        + " values into the payload");
    }

    @Test
    void theDatabaseInsistsOnExactlyOnePayload() {
        assertThatThrownBy(() -> insert("NULL", "NULL")).extracting("SQLState").isEqualTo("23514");
        assertThatThrownBy(() -> insert("'x'", "'x'")).extracting("SQLState").isEqualTo("23514");
        assertThatThrownBy(() -> insert("''", "''"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("outbox_one_payload");
    }

    private static void insert(String payload, String payloadBytes) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO outbox (work_item_id, topic, payload, payload_bytes) VALUES"
                    + " (gen_random_uuid(), 't', " + payload + ", " + payloadBytes + ")");
        }
    }

    private static String logOf(Runnable work) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream original = System.err;
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(original);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
