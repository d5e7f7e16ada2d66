package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Priority;
import dev.outbox.WorkItem;
import dev.outbox.spi.ClaimRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TimeZone;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is enqueued is what is claimed, field by field, one by one and in bulk. */
class EnqueuedFieldsIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final String ODD = "Grüße, \"'\\ 漢字 🎉 \u0001 \u2028 {table} :topics ?";

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();

    private List<Message> claim() {
        return outbox
                .source()
                .claim(new ClaimRequest(1_000, Duration.ofSeconds(30), 5, Set.of(), "me"))
                .items()
                .stream()
                .map(WorkItem::message)
                .toList();
    }

    /** Through the single insert, then through the bulk one. */
    private List<Message> thereAndBack(Message message) {
        DATABASE.commit(outbox, message);
        DATABASE.commit(outbox, message, Message.to("companion").payload("other"), message);
        List<Message> claimed = new ArrayList<>();
        for (List<Message> some = claim(); !some.isEmpty(); some = claim()) {
            claimed.addAll(some);
        }
        claimed.removeIf(m -> m.topic().equals("companion"));
        assertThat(claimed).hasSize(3);
        return claimed;
    }

    @Test
    void everyFieldComesBackAsItWas() {
        Message sent = Message.to(ODD)
                .key(ODD)
                .payload(ODD)
                .header("trace" + ODD, ODD)
                .header("empty", "")
                .header("a", "later than trace")
                .correlationId(ODD)
                .tenantId(ODD)
                .contentType("text/plain; charset=\"utf-8\"")
                .priority(Priority.HIGH);

        assertThat(thereAndBack(sent)).allSatisfy(message -> {
            assertThat(message).usingRecursiveComparison().isEqualTo(sent);
            assertThat(message.headers().keySet()).containsExactly("trace" + ODD, "empty", "a");
        });
    }

    @Test
    void headersHoldWhatTextColumnsCannot() {
        Message sent = Message.to("orders").payload("p").header("h", "a\0b\uD83C");

        assertThat(thereAndBack(sent)).extracting(Message::headers).containsOnly(sent.headers());
    }

    @Test
    void theCallersIdComesBack() {
        DATABASE.commit(outbox, Message.to("orders").id(ODD).payload("p"));

        assertThat(claim()).extracting(Message::id).containsExactly(ODD);
    }

    @Test
    void whatWasNotSetIsNotSet() {
        assertThat(thereAndBack(Message.to("orders").payload("p")))
                .allSatisfy(message -> assertThat(message)
                        .usingRecursiveComparison()
                        .isEqualTo(Message.to("orders").payload("p")));
    }

    @Test
    void fieldsAtTheirLongestComeBack() {
        String longest = "🎉".repeat(127) + "x";
        Message sent = Message.to(longest)
                .key(longest)
                .correlationId(longest)
                .tenantId(longest)
                .contentType(longest)
                .header(longest, "é".repeat(Message.MAX_HEADER_VALUE))
                .payload("");

        assertThat(thereAndBack(sent))
                .allSatisfy(message ->
                        assertThat(message).usingRecursiveComparison().isEqualTo(sent));
    }

    @Test
    void emptyPayloadsStayEmptyAndOfTheirKind() {
        assertThat(thereAndBack(Message.to("orders").payload(""))).allSatisfy(message -> {
            assertThat(message.isBinary()).isFalse();
            assertThat(message.payload()).isEmpty();
        });
        assertThat(thereAndBack(Message.to("orders").payload(new byte[0]))).allSatisfy(message -> {
            assertThat(message.isBinary()).isTrue();
            assertThat(message.payloadBytes()).isEmpty();
        });
    }

    @Test
    void everyByteAndAMegabyteComeBack() {
        byte[] all = new byte[256];
        IntStream.range(0, 256).forEach(i -> all[i] = (byte) i);
        byte[] megabyte = "0123456789abcdef".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);

        assertThat(thereAndBack(Message.to("orders").payload(all)))
                .allSatisfy(message -> assertThat(message.payloadBytes()).isEqualTo(all));
        assertThat(thereAndBack(Message.to("orders").payload(megabyte)))
                .allSatisfy(message -> assertThat(message.payloadBytes()).isEqualTo(megabyte));
    }

    @Test
    void aDueTimeComesBackToTheMicrosecondWhateverTheTimeZone() {
        TimeZone before = TimeZone.getDefault();
        try {
            for (String zone : List.of("Asia/Kathmandu", "America/St_Johns", "UTC")) {
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                // The second of the two half hours that Europe's clocks show twice.
                Instant due = Instant.parse("2024-10-27T01:30:00.123456Z");
                assertThat(thereAndBack(Message.to("orders").payload("p").due(due)))
                        .extracting(Message::due)
                        .containsOnly(due);
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @Test
    void theEarliestDueTimeComesBackAndTheLatestIsStored() {
        Instant earliest = Instant.parse("0001-01-01T00:00:00Z");
        Instant latest = Instant.parse("9999-12-31T23:59:59Z");
        assertThat(thereAndBack(Message.to("orders").payload("p").due(earliest)))
                .extracting(Message::due)
                .containsOnly(earliest);

        Message late = Message.to("late").payload("p").due(latest);
        DATABASE.commit(outbox, late);
        DATABASE.commit(outbox, late, late);

        assertThat(claim()).isEmpty();
        assertThat(DATABASE.count(table, "due_on = '9999-12-31 23:59:59+00' AND topic = 'late'"))
                .isEqualTo(3);
    }

    @Test
    void dueInCountsByTheDatabasesClock() {
        Message later = Message.to("orders").payload("p").dueIn(Duration.ofMinutes(10));
        DATABASE.commit(outbox, later);
        DATABASE.commit(outbox, later, later);

        assertThat(claim()).isEmpty();
        assertThat(DATABASE.query("SELECT extract(epoch FROM due_on - created_on) FROM " + table))
                .allSatisfy(seconds -> assertThat(Double.parseDouble(seconds)).isEqualTo(600, within(0.000_001)));
        Instant now = Instant.parse(
                DATABASE.query("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                        .get(0));
        assertThat(DATABASE.count(
                        table,
                        String.format(
                                Locale.ROOT,
                                "created_on BETWEEN '%s' AND '%s'",
                                now.minus(1, ChronoUnit.MINUTES),
                                now)))
                .isEqualTo(3);
    }

    @Test
    void dueInZeroIsDueAtOnce() {
        assertThat(thereAndBack(Message.to("orders").payload("p").dueIn(Duration.ZERO)))
                .extracting(Message::due)
                .doesNotContainNull();
    }
}
