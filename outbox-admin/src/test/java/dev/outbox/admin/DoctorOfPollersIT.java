package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.Message;
import dev.outbox.UnknownTypeException;
import dev.outbox.delivery.Poller;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each trouble with pollers is made with real ones, and found. */
class DoctorOfPollersIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void silentSlowAndOutdatedPollersAreNamed() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, lease_ms, longest_delivery_ms, phase, table_name, poller,
                    version)
                VALUES (statement_timestamp(), statement_timestamp() - interval '1 hour', 30000, 10, 4, 'public.outbox',
                        'silent', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 31000, 4, 'public.outbox', 'slow', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 10, 3, 'public.outbox', 'outdated', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 10, 4, 'public.outbox', 'well', '1')
                """);

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .extracting(Diagnosis::what)
                .containsExactly(
                        "poller outdated reads an older layout",
                        "deliveries of poller slow take longer than its lease");
        tables.execute("DELETE FROM outbox_pollers WHERE poller <> 'silent'");
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .extracting(Diagnosis::what)
                .containsExactly("poller silent is silent");
    }

    @Test
    void aPollerThatSurvivedAnErrorWithinTheHourIsFound() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_error_on, last_error, lease_ms, longest_delivery_ms,
                    phase, table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '50 minutes',
                        'java.lang.OutOfMemoryError: Java heap space', 30000, 10, 4, 'public.outbox', 'shaken', '1'),
                    (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '70 minutes',
                        'java.lang.StackOverflowError', 30000, 10, 4, 'public.outbox', 'recovered', '1')
                """);

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox pollers");
            assertThat(found.what()).isEqualTo("poller shaken of public.outbox survived an error");
            assertThat(found.evidence()).startsWith("at ").endsWith("Z: java.lang.OutOfMemoryError: Java heap space");
        });
    }

    @Test
    void nobodyWhoPollsWhatIsDueIsFound() {
        tables.enqueue(Message.to("orders").payload("x"));
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).isEmpty();
        tables.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes'");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox pollers");
            assertThat(found.what()).isEqualTo("no poller is alive, and items are due");
            assertThat(found.evidence()).contains("PT10M", "pollers known: 0");
        });
    }

    @Test
    void aPollerThatIsAliveAndClaimsNothingIsFound() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms, phase,
                    table_name, poller, version)
                VALUES (statement_timestamp() - interval '1 day', statement_timestamp(),
                        statement_timestamp() - interval '10 minutes', 30000, 10, 4, 'public.outbox', 'refused', '1'),
                    (statement_timestamp() - interval '1 day', statement_timestamp(), NULL, 30000, 10, 4, 'public.outbox',
                        'never', '1'),
                    (statement_timestamp() - interval '1 day', statement_timestamp(), statement_timestamp(), 30000, 10, 4,
                        'public.outbox', 'well', '1')
                """);
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).isEmpty();
        tables.enqueue(Message.to("orders").payload("x"));
        tables.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes'");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .extracting(Diagnosis::what)
                .containsExactly(
                        "items of topic orders are due, and no poller delivers them",
                        "poller never is alive, but does not claim what is due",
                        "poller refused is alive, but does not claim what is due");
    }

    @Test
    void topicsAndTypesThatNoPollerHandlesAreFound() {
        tables.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms, phase,
                    table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp(), 30000, 10, 4, 'public.outbox',
                    'well', '1')
                """);
        tables.enqueue(Message.to("orders").payload("x"));
        tables.enqueue(Message.to("orders").key("k").payload("x"));
        try (Poller poller = tables.outbox
                .poller()
                .to(item -> {
                    throw new UnknownTypeException("unknown type orders.v9");
                })
                .build()) {
            assertThat(poller.pollOnce() + poller.pollOnce()).isEqualTo(2); // with and without keys
        }
        tables.enqueue(Message.to("refunds").payload("x"));
        tables.enqueue(Message.to("mails").payload("x"));
        tables.enqueue(Message.to("mails").payload("x"));
        tables.enqueue(Message.to("tomorrow").payload("x").dueIn(Duration.ofDays(1)));
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).isEmpty();

        tables.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes',"
                + " first_due_on = first_due_on - interval '10 minutes'");
        tables.execute("UPDATE outbox SET status = 1, owner_token = gen_random_uuid(),"
                + " locked_until = statement_timestamp() + interval '1 minute'"
                + " WHERE sequence = (SELECT min(sequence) FROM outbox WHERE topic = 'mails')");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .allSatisfy(found -> assertThat(found.check()).isEqualTo("outbox pollers"))
                .extracting(Diagnosis::what, found -> found.evidence().replaceAll("PT10M[0-9.S]*", "PT10M"))
                .containsExactly(
                        tuple(
                                "items of topic orders are due, and no poller delivers them",
                                "2 items, the oldest for PT10M; last error: dev.outbox.UnknownTypeException: unknown type"
                                        + " orders.v9"),
                        tuple(
                                "items of topic refunds are due, and no poller delivers them",
                                "1 items, the oldest for PT10M"));
    }
}
