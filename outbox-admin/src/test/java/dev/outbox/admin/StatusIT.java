package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.jdbc.TableKind;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StatusIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void itemsAreCountedByStatusAndTopic() {
        tables.dead(Message.to("orders").payload("x"), "e");
        tables.enqueue(Message.to("mails").payload("x"));
        tables.deliver();
        tables.enqueue(Message.to("orders").payload("x"));
        tables.enqueue(Message.to("orders").key("k").payload("x"));
        tables.enqueue(Message.to("mails").dueIn(Duration.ofHours(1)).payload("x"));
        tables.execute(
                "UPDATE outbox SET created_on = created_on - interval '1 hour' WHERE status = 0 AND due_on IS NULL");
        tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("x"), "e");

        TableStatus status = outbox();

        assertThat(status.counts())
                .extracting(count -> count.topic() + " " + count.status() + " " + count.items() + " " + count.due())
                .containsExactly("mails READY 1 0", "orders READY 2 2", "orders DEAD 1 0");
        assertThat(status.count(Status.READY)).isEqualTo(3);
        assertThat(status.done()).isOne();
        assertThat(status.doneIsAbout()).isFalse();
        assertThat(status.oldestDue())
                .get()
                .satisfies(age -> assertThat(age).isBetween(Duration.ofHours(1), Duration.ofHours(2)));
        assertThat(status.phase()).isEqualTo(4);
        assertThat(tables.admin().status().get(1).count(Status.DEAD)).isOne();
        assertThat(tables.admin().statusExactly().get(0).counts())
                .extracting(count -> count.topic() + " " + count.status() + " " + count.items())
                .contains("mails DONE 1");
    }

    @Test
    void manyThatAreDoneAreEstimated() {
        done(12_000, Duration.ofSeconds(1));
        tables.execute("ANALYZE outbox");

        TableStatus status = outbox();

        assertThat(status.doneIsAbout()).isTrue();
        assertThat(status.done()).isBetween(10_000L, 14_000L);
        assertThat(tables.admin().statusExactly().get(0).done()).isEqualTo(12_000);
    }

    @Test
    void thePaceIsThatOfTheLastThatWereDone() {
        done(300, Duration.ofSeconds(2));

        Throughput throughput = outbox().throughput().orElseThrow();

        assertThat(throughput.sample()).isEqualTo(300);
        assertThat(throughput.perSecond()).isEqualTo(1.0);
        assertThat(throughput.p50()).isEqualTo(Duration.ofSeconds(2));
        assertThat(throughput.p99()).isEqualTo(Duration.ofSeconds(2));
        assertThat(tables.admin().status().get(1).throughput()).isEmpty();
    }

    @Test
    void aBlockedKeySaysWhatItWaitsFor() {
        String dead = tables.enqueue(Message.to("orders").key("blocked").payload("1"));
        tables.enqueue(Message.to("orders").key("blocked").payload("2"));
        tables.killAll("poison", OnDead.BLOCK);
        String failing = tables.enqueue(Message.to("orders").key("failing").payload("1"));
        tables.failAll("connection refused");
        tables.enqueue(Message.to("orders").key("failing").payload("2"));
        tables.enqueue(Message.to("orders").key("failing").payload("3"));
        tables.execute("UPDATE outbox SET attempt_count = 1, due_on = statement_timestamp() + interval '2 hours'"
                + " WHERE message_key = 'failing' AND payload = '3'"); // it backs off too, but is no head
        tables.enqueue(Message.to("orders").key("free").payload("1"));

        List<BlockedKey> blocked = outbox().blocked();

        assertThat(blocked).extracting(BlockedKey::key).containsExactly("blocked", "failing");
        assertThat(blocked.get(0)).satisfies(key -> {
            assertThat(key.head().id()).isEqualTo(dead);
            assertThat(key.status()).isEqualTo(Status.DEAD);
            assertThat(key.waiting()).isOne();
            assertThat(key.error()).contains("poison");
        });
        assertThat(blocked.get(1)).satisfies(key -> {
            assertThat(key.head().id()).isEqualTo(failing);
            assertThat(key.status()).isEqualTo(Status.READY);
            assertThat(key.attempts()).isOne();
            assertThat(key.waiting()).isEqualTo(2);
            assertThat(key.error()).contains("connection refused");
        });
    }

    @Test
    void theBacklogIsCountedByStatus() {
        tables.dead(Message.to("orders").payload("x"), "e");
        tables.enqueue(Message.to("orders").payload("x"));
        tables.enqueue(Message.to("orders").key("k").payload("x"));
        tables.enqueue(Message.to("mails").dueIn(Duration.ofHours(1)).payload("x"));
        tables.enqueue(Message.to("mails").payload("leased"));
        tables.execute("UPDATE outbox SET status = 1, locked_until = statement_timestamp() WHERE payload = 'leased'");
        tables.execute("UPDATE outbox SET created_on = created_on - interval '1 hour' WHERE message_key = 'k'");

        Backlog backlog = tables.admin().backlog(TableKind.OUTBOX);

        assertThat(backlog.ready()).isEqualTo(3);
        assertThat(backlog.processing()).isOne();
        assertThat(backlog.dead()).isOne();
        assertThat(backlog.oldestDue())
                .get()
                .satisfies(age -> assertThat(age).isBetween(Duration.ofHours(1), Duration.ofHours(2)));
        assertThat(tables.admin().backlog(TableKind.INBOX)).isEqualTo(new Backlog(0, 0, 0, Optional.empty()));
    }

    @Test
    void theBacklogOfATableBeforePhaseThreeIsNotCounted() {
        tables.enqueue(Message.to("orders").payload("x"));
        tables.execute("COMMENT ON TABLE outbox IS 'dev.outbox phase 1'");

        assertThat(tables.admin().backlog(TableKind.OUTBOX)).isEqualTo(new Backlog(0, 0, 0, Optional.empty()));
    }

    @Test
    void aMissingTableIsToldOnlyIfThereIsNoOther() {
        tables.execute("DROP TABLE inbox");
        assertThat(tables.admin().status()).extracting(TableStatus::kind).containsExactly(TableKind.OUTBOX);

        tables.execute("DROP TABLE outbox");
        assertThatThrownBy(() -> tables.admin().status())
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("neither an outbox table \"outbox\" nor an inbox table \"inbox\"");
    }

    @Test
    void aTableBeforePhaseThreeTellsItsPhaseAndNoMore() {
        tables.execute("COMMENT ON TABLE outbox IS 'dev.outbox phase 1'");

        assertThat(outbox().phase()).isOne();
        assertThat(outbox().counts()).isEmpty();
        assertThatThrownBy(() -> tables.admin().deadLetters().list(DeadFilter.all(), Page.first(5)))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("phase 1")
                .hasMessageContaining("phase 3");
    }

    private TableStatus outbox() {
        return tables.admin().status().get(0);
    }

    private void done(int rows, Duration took) {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, created_on, processed_on)
                SELECT gen_random_uuid(), 'orders', 'x', 2, statement_timestamp() - ? * interval '1 second',
                    statement_timestamp()
                FROM generate_series(1, ?) AS n
                """, took.toSeconds(), rows);
    }
}
