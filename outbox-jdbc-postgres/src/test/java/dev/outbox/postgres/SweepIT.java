package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Priority;
import dev.outbox.WorkItem;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that appear below a mark are looked for again and again, whatever happens meanwhile. */
class SweepIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final ClaimRequest REQUEST = new ClaimRequest(10, Duration.ofMinutes(5), 10, Set.of(), "me");

    private final AtomicLong ticker = new AtomicLong();
    private final String table = DATABASE.newTable();
    private final Outbox outbox = PostgresOutbox.builder(DATABASE.pool())
            .table(table)
            .ticker(ticker::get)
            .build();
    private final Source source = outbox.source();

    @BeforeEach
    void takeTheFirstTwo() {
        DATABASE.commit(outbox, message("first"), message("second"));
        assertThat(claimed()).containsExactly("first", "second");
    }

    @Test
    void aRowWhoseSettleTookLongerThanItsDelayNeedsNoSweep() {
        DATABASE.commit(outbox, message("in time"));
        DATABASE.execute("UPDATE " + table + " SET due_on = now() WHERE message_id = 'in time'");
        assertThat(claimed()).containsExactly("in time");

        DATABASE.commit(outbox, message("settled slowly"));
        DATABASE.execute("UPDATE " + table
                + " SET due_on = (SELECT due_on FROM " + table + " WHERE message_id = 'in time') - interval '50 ms'"
                + " WHERE message_id = 'settled slowly'");

        assertThat(claimed()).containsExactly("settled slowly");
    }

    @Test
    void timeInWhichTheDatabaseWasDownDoesNotPutOffTheNextSweep() {
        pass(Duration.ofSeconds(2));
        DATABASE.execute("ALTER TABLE " + table + " RENAME TO gone_" + table);
        assertThatThrownBy(() -> source.claim(REQUEST)).isInstanceOf(OutboxException.class);
        pass(Duration.ofMinutes(10));
        DATABASE.execute("ALTER TABLE gone_" + table + " RENAME TO " + table);
        claimed();

        commitsLate("late");
        pass(Duration.ofSeconds(2));

        assertThat(claimed()).containsExactly("late");
    }

    @Test
    void aSweepThatFailsLeavesTheMarksWhereTheyWere() {
        pass(Duration.ofSeconds(2));
        DATABASE.execute("ALTER TABLE " + table + " RENAME TO gone_" + table);
        for (int queue = 0; queue < 3; queue++) {
            assertThatThrownBy(() -> source.claim(REQUEST)).isInstanceOf(OutboxException.class);
        }
        DATABASE.execute("ALTER TABLE gone_" + table + " RENAME TO " + table);
        commitsLate("late");
        DATABASE.commit(outbox, message("new"));

        assertThat(source.claim(REQUEST).items())
                .as("from the marks")
                .extracting(WorkItem::messageId)
                .containsExactly("new");

        pass(Duration.ofSeconds(2));
        assertThat(claimed()).containsExactly("late");
    }

    @Test
    void aSweepWhoseBatchIsFullKeepsTheMarksOfOtherBands() {
        DATABASE.commit(outbox, message("urgent").priority(Priority.HIGH));
        assertThat(claimed()).containsExactly("urgent");
        pass(Duration.ofSeconds(2));
        DATABASE.commit(outbox, Collections.nCopies(25, Message.to("claims").payload("x")));
        assertThat(source.claim(REQUEST).items()).hasSize(10);
        DATABASE.commit(outbox, message("late").priority(Priority.HIGH));
        DATABASE.execute("UPDATE " + table + " SET sequence = -sequence WHERE message_id = 'late'");

        assertThat(source.claim(REQUEST).items())
                .as("from the marks")
                .hasSize(10)
                .extracting(WorkItem::messageId)
                .doesNotContain("late");

        pass(Duration.ofSeconds(2));
        assertThat(claimed()).hasSize(6).contains("late");
    }

    @Test
    void roadsThatAreBusyDoNotPutOffTheNextSweep() {
        pass(Duration.ofSeconds(2));
        List<Message> keyed = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            keyed.add(message("k-" + i).key("key-" + i));
        }
        DATABASE.commit(outbox, keyed);
        for (int i = 0; i < 3; i++) {
            source.claim(REQUEST);
            pass(Duration.ofSeconds(30));
        }
        claimed();

        commitsLate("late");
        pass(Duration.ofSeconds(31));

        assertThat(claimed()).contains("late");
    }

    private void pass(Duration time) {
        ticker.addAndGet(time.toNanos());
    }

    private List<String> claimed() {
        List<String> ids = new ArrayList<>();
        boolean more = true;
        while (more) {
            var claim = source.claim(REQUEST);
            claim.items().stream().map(WorkItem::messageId).forEach(ids::add);
            more = claim.more();
        }
        return ids;
    }

    /** Its sequence was drawn before those of rows that were claimed already. */
    private void commitsLate(String id) {
        DATABASE.commit(outbox, message(id));
        DATABASE.execute("UPDATE " + table + " SET sequence = -sequence WHERE message_id = ?", id);
    }

    private static Message message(String id) {
        return Message.to("claims").id(id).payload("x");
    }
}
