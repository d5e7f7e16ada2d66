package dev.outbox.postgres;

import static dev.outbox.postgres.Plans.Planned.PINNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A claim that is cut by its bound in bytes does not hide what it left, and reads no payload that it does not take. */
class ByteBoundIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final ClaimRequest REQUEST =
            new ClaimRequest(10, Duration.ofMinutes(5), 10, Set.of(), "me").maxBytes(1_000);
    private static final String LARGE = "x".repeat(2_000);

    /** No sweep is due while it stands still. */
    private final AtomicLong ticker = new AtomicLong();

    private final String table = DATABASE.newTable();
    private final Outbox outbox = PostgresOutbox.builder(DATABASE.pool())
            .table(table)
            .ticker(ticker::get)
            .build();
    private final Source source = outbox.source();

    @Test
    void aSweepThatWasCutDoesNotHideWhatItLeft() {
        DATABASE.commit(outbox, message("first", "x"), message("second", "x"));
        assertThat(claimed(REQUEST)).containsExactly("first", "second");
        DATABASE.commit(outbox, message("late-1", LARGE), message("late-2", LARGE), message("late-3", "x"));
        DATABASE.execute("UPDATE " + table + " SET sequence = sequence - 1000 WHERE message_id LIKE 'late%'");
        ticker.addAndGet(Duration.ofSeconds(2).toNanos());

        assertThat(claimed(REQUEST)).containsExactly("late-1", "late-2", "late-3");
    }

    @Test
    void aSweepOfWaitingRowsThatWasCutDoesNotHideWhatItLeft() {
        DATABASE.commit(outbox, message("first", "x"), message("second", "x"));
        dueSince("first", 10);
        dueSince("second", 10);
        assertThat(claimed(REQUEST)).containsExactly("first", "second");
        DATABASE.commit(outbox, message("late-1", LARGE), message("late-2", LARGE), message("late-3", "x"));
        dueSince("late-1", 30);
        dueSince("late-2", 20);
        dueSince("late-3", 15);
        ticker.addAndGet(Duration.ofSeconds(2).toNanos());

        assertThat(claimed(REQUEST)).containsExactly("late-1", "late-2", "late-3");
    }

    @Test
    void aCutClaimOfATopicDoesNotHideTheRestOfItsStretch() {
        DATABASE.commit(outbox, message("own-1", LARGE), message("own-2", LARGE));
        DATABASE.commit(outbox, Collections.nCopies(5_000, Message.to("foreign").payload("")));

        assertThat(claimed(REQUEST.topics(Set.of("claims")))).containsExactly("own-1", "own-2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NULL", "now() - interval '1 hour'"})
    void theSizeOfALargePayloadIsKnownWithoutReadingIt(String due) throws SQLException {
        PlanScenario scenario = PlanScenario.empty(DATABASE);
        for (String key : new String[] {"NULL", "'key-' || i % 3"}) {
            DATABASE.execute("INSERT INTO " + scenario.table()
                    + " (work_item_id, topic, payload, message_key, due_on) SELECT gen_random_uuid(), 'orders',"
                    + " (SELECT string_agg(md5(i::text || g), '') FROM generate_series(1, 32768) g), " + key + ", "
                    + due + " FROM generate_series(1, 10) i");
        }
        Plans plans = scenario.plans("NULL");

        for (String statement : List.of(
                PostgresClaim.READY, PostgresClaim.READY_OF_TOPICS, PostgresClaim.WAITING, PostgresKeyClaim.TAKE)) {
            Plan plan = plans.explain("claim", statement, PINNED);
            assertThat(plan.buffers())
                    .as(plan::toString)
                    .isLessThan(1_280); // the payloads of one kind have 1,280 pages
        }
    }

    @Test
    void theSearchForExpiredLeasesReadsNoPayloads() {
        assertThat(PostgresExpire.EXPIRE).doesNotContain("payload", "headers");
    }

    private void dueSince(String id, int minutes) {
        DATABASE.execute(
                "UPDATE " + table + " SET due_on = now() - " + minutes + " * interval '1 minute' WHERE message_id = ?",
                id);
    }

    private List<String> claimed(ClaimRequest request) {
        List<String> ids = new ArrayList<>();
        Claim claim;
        do {
            claim = source.claim(request);
            claim.items().stream().map(WorkItem::messageId).forEach(ids::add);
        } while (claim.more());
        return ids;
    }

    private static Message message(String id, String payload) {
        return Message.to("claims").id(id).payload(payload);
    }
}
