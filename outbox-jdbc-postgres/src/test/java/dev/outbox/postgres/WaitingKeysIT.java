package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many keys that cannot be claimed, in front of others that can. */
class WaitingKeysIT {
    private static final int MANY = 20_000;
    private static final ClaimRequest SOME = new ClaimRequest(50, Duration.ofMinutes(5), 10, Set.of(), "me");
    private static final ClaimRequest ONE = SOME.count(1);

    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();

    private final AtomicLong ticker = new AtomicLong();

    @Test
    void keysThatWaitForALaterTimeAreNoWork() {
        store("orders", "now() + interval '1 day'");

        assertThat(outbox.source().claim(ONE).more()).isFalse();
    }

    @Test
    void aNewKeyIsFoundByTheNextClaimAlthoughManyKeysWait() {
        store("orders", "now() + interval '1 day'");
        Source source = outbox.source();
        claimAll(source, ONE);

        assertThat(claimed(source, ONE, "new")).isTrue();
    }

    @Test
    void aNewKeyIsFoundByTheNextClaimAlthoughManyKeysHaveTopicsThatNobodyPolls() {
        store("foreign", "NULL");
        Source source = outbox.source();
        ClaimRequest own = ONE.topics(Set.of("orders"));
        claimAll(source, own);

        assertThat(claimed(source, own, "new")).isTrue();
    }

    @Test
    void liveKeysBehindManyOthersAreFoundInAFewClaimsHoweverSmall() {
        store("foreign", "NULL");
        DATABASE.commit(outbox, Message.to("orders").key("z").id("live").payload(""));

        List<String> ids = new ArrayList<>();
        Source source = outbox.source();
        for (int claim = 0; claim < 6; claim++) {
            ids.addAll(ids(source.claim(ONE.topics(Set.of("orders")))));
        }

        assertThat(ids).containsExactly("live");
    }

    @Test
    void theBacklogOfAKeyGoesOnAlthoughManyKeysWait() {
        store("orders", "now() + interval '1 day'");
        List<Message> backlog = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            backlog.add(Message.to("orders").key("z").id("z-" + i).payload(""));
        }
        DATABASE.commit(outbox, backlog);

        List<String> ids = new ArrayList<>();
        Source source = outbox.source();
        for (int claim = 0; claim < 4; claim++) {
            Claim claimed = source.claim(SOME);
            ids.addAll(ids(claimed));
            settle(source, claimed);
        }

        assertThat(ids)
                .containsExactlyElementsOf(backlog.stream().map(Message::id).toList());
    }

    /** While one claim is settled, the next one is made, and no time passes. */
    @Test
    void aBacklogOfManyKeysNeedsNoSweep() {
        int keys = 40;
        List<Message> backlog = new ArrayList<>();
        for (int i = 0; i < 50 * keys; i++) {
            backlog.add(Message.to("orders").key("k" + i % keys).id("m-" + i).payload(""));
        }
        DATABASE.commit(outbox, backlog);
        Source source = sourceWithTicker();
        Claim before = source.claim(SOME);
        int claimed = before.items().size();
        for (int i = 0; i < 100; i++) {
            Claim claim = source.claim(SOME);
            claimed += claim.items().size();
            settle(source, before);
            before = claim;
        }

        assertThat(claimed).isEqualTo(backlog.size());
    }

    private static void settle(Source source, Claim claim) {
        source.settle(claim.items().stream()
                .map(item -> Settlement.done(claim.lease(item)))
                .toList());
    }

    /** The marks have passed it. */
    @Test
    void aKeyThatAnOperatorUnblocksIsFoundByASweep() {
        DATABASE.commit(outbox, Message.to("orders").key("k").id("behind").payload(""));
        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, message_key, payload, status, blocks_key,"
                + " sequence) VALUES (gen_random_uuid(), 'orders', 'k', '', 3, true, -1)");
        Source source = sourceWithTicker();
        claimAll(source, ONE);
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());
        claimAll(source, ONE);
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(ids(source.claim(ONE))).isEmpty();

        DATABASE.execute("UPDATE " + table + " SET status = 2, blocks_key = false WHERE sequence = -1");
        assertThat(ids(source.claim(ONE))).as("no sweep is due").isEmpty();
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());

        assertThat(ids(source.claim(ONE))).containsExactly("behind");
    }

    @Test
    void aRowThatCommitsLateIsFoundByTheNextSweepHoweverManyKeysWait() {
        store("orders", "now() + interval '1 day'");
        DATABASE.commit(outbox, Message.to("orders").key("z").id("first").payload(""));
        Source source = sourceWithTicker();
        assertThat(ids(source.claim(ONE))).containsExactly("first");
        claimAll(source, ONE);

        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, message_key, message_id, payload, sequence)"
                + " VALUES (gen_random_uuid(), 'orders', 'late', 'late', '', 0)");
        assertThat(ids(source.claim(ONE))).as("no sweep is due").isEmpty();
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());

        assertThat(ids(source.claim(ONE))).containsExactly("late");
    }

    private Source sourceWithTicker() {
        return PostgresOutbox.builder(DATABASE.pool())
                .table(table)
                .ticker(ticker::get)
                .build()
                .source();
    }

    private void store(String topic, String due) {
        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, message_key, payload, due_on)"
                + " SELECT gen_random_uuid(), '" + topic + "', 'a' || i, '', " + due + " FROM generate_series(1, "
                + MANY
                + ") i");
    }

    private boolean claimed(Source source, ClaimRequest request, String id) {
        DATABASE.commit(outbox, Message.to("orders").key("z").id(id).payload(""));
        return ids(source.claim(request)).contains(id);
    }

    private static void claimAll(Source source, ClaimRequest request) {
        for (int claim = 0; claim < 100 && source.claim(request).more(); claim++) {
            // until nothing is left
        }
    }

    private static List<String> ids(Claim claim) {
        return claim.items().stream().map(WorkItem::messageId).toList();
    }
}
