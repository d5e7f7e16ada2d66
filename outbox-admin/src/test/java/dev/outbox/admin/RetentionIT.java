package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.jdbc.TableKind;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is removed by age, and what stays. */
class RetentionIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void purgeTakesWhatHasBeenDoneForLongInBatches() {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'x', 2, statement_timestamp() - n * interval '1 hour'
                FROM generate_series(1, 2500) AS n
                """);
        tables.dead(Message.to("orders").payload("x"), "e");
        tables.enqueue(Message.to("orders").payload("x"));
        tables.execute("UPDATE outbox SET processed_on = processed_on - interval '30 days' WHERE status = 3");

        PurgeResult rehearsed = tables.admin().purge(TableKind.OUTBOX, Duration.ofHours(100), true);
        assertThat(rehearsed).isEqualTo(new PurgeResult(true, 2_401, false));
        assertThat(tables.value("SELECT count(*) FROM outbox")).isEqualTo("2502");

        assertThat(tables.admin().purge(TableKind.OUTBOX, Duration.ofHours(100), false))
                .isEqualTo(new PurgeResult(false, 2_401, false));
        assertThat(tables.rows("SELECT status, count(*) FROM outbox GROUP BY 1 ORDER BY 1"))
                .containsExactly("0|1", "2|99", "3|1");
    }

    @Test
    void aPurgeEndsAfterTheBatchUnderWayWhenItsThreadIsInterrupted() {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'x', 2, statement_timestamp() - n * interval '1 hour'
                FROM generate_series(1, 2500) AS n
                """);
        Thread.currentThread().interrupt();

        PurgeResult purged = tables.admin().purge(TableKind.OUTBOX, Duration.ZERO, false);

        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(purged).isEqualTo(new PurgeResult(false, 1_000, false));
        assertThat(tables.value("SELECT count(*) FROM outbox")).isEqualTo("1500");
    }

    @Test
    void anInboxForgetsNothingThatMayComeAgain() {
        for (String consumer : new String[] {"billing", "shipping"}) {
            tables.execute("""
                    INSERT INTO inbox (work_item_id, consumer, source, message_id, status, processed_on)
                    SELECT gen_random_uuid(), ?, 'shop', 'm-' || n, 2, statement_timestamp() - n * interval '1 day'
                    FROM generate_series(1, 20) AS n
                    """, consumer);
        }

        assertThatThrownBy(() -> tables.admin().purge(TableKind.INBOX, Duration.ofDays(1), true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least maxRedelivery, PT168H, was PT24H");
        assertThat(tables.admin()
                        .purge(TableKind.INBOX, Duration.ofDays(10), false)
                        .count())
                .isEqualTo(22);
    }

    @Test
    void deadRowsGoEvenIfSomethingThatIsDoneGoesEachTime() {
        tables.dead(Message.to("orders").payload("x"), "e");
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, processed_on)
                VALUES (gen_random_uuid(), 'orders', 'x', 2, statement_timestamp())
                """);
        tables.execute("UPDATE outbox SET processed_on = processed_on - interval '30 days'");

        assertThat(PostgresOutbox.builder(tables.dataSource)
                        .deadRetention(Duration.ofDays(14))
                        .build()
                        .source()
                        .purge())
                .isEqualTo(2);
        assertThat(tables.value("SELECT count(*) FROM outbox")).isEqualTo("0");
    }

    @Test
    void deadRowsStayUnlessTheyHaveARetentionAndEvenThenIfTheyBlockTheirKey() {
        tables.dead(Message.to("orders").payload("x"), "e");
        tables.enqueue(Message.to("orders").key("k").payload("x"));
        tables.killAll("poison", OnDead.BLOCK);
        tables.execute("UPDATE outbox SET processed_on = processed_on - interval '30 days'");
        tables.dead(Message.to("orders").payload("young"), "e");
        tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("x"), "e");
        tables.execute("UPDATE inbox SET processed_on = processed_on - interval '30 days'");

        assertThat(tables.outbox.source().purge()).isZero();
        assertThat(PostgresOutbox.builder(tables.dataSource)
                        .deadRetention(Duration.ofDays(14))
                        .build()
                        .source()
                        .purge())
                .isOne();
        assertThat(tables.rows("SELECT message_key, payload FROM outbox ORDER BY sequence"))
                .containsExactly("k|x", "null|young");
        assertThat(PostgresInbox.builder(tables.dataSource)
                        .consumer("shipping")
                        .deadRetention(Duration.ofDays(14))
                        .build()
                        .source()
                        .purge())
                .isZero();
        assertThat(PostgresInbox.builder(tables.dataSource)
                        .consumer("billing")
                        .deadRetention(Duration.ofDays(14))
                        .build()
                        .source()
                        .purge())
                .isOne();
        assertThatThrownBy(() -> PostgresInbox.builder(tables.dataSource)
                        .consumer("billing")
                        .deadRetention(Duration.ofDays(1))
                        .build())
                .hasMessageContaining("deadRetention must be at least maxRedelivery");
    }
}
