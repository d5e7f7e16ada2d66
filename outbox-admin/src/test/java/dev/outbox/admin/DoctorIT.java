package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Each trouble with tables and items is made in a real database, and found. */
class DoctorIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void aCleanDatabaseIsWell() {
        List<Diagnosis> all = tables.admin().doctor().examine(Tables.NO_OLD_TRANSACTIONS);

        assertThat(all)
                .filteredOn(found -> found.severity() != Severity.OK)
                .extracting(Diagnosis::check)
                .containsExactly("network");
        assertThat(all)
                .extracting(Diagnosis::check)
                .containsExactly(
                        "clocks",
                        "network",
                        "isolation",
                        "pooler",
                        "snapshots",
                        "replication slots",
                        "outbox schema",
                        "outbox autovacuum",
                        "outbox dead tuples",
                        "outbox size",
                        "outbox leases",
                        "outbox keys",
                        "outbox retention",
                        "outbox pollers",
                        "inbox schema",
                        "inbox autovacuum",
                        "inbox dead tuples",
                        "inbox size",
                        "inbox leases",
                        "inbox keys",
                        "inbox retention",
                        "inbox pollers");
    }

    @Test
    void connectionsThatWaitForASilentNetworkForEverAreNoted(EmbeddedDatabase database) {
        PGSimpleDataSource bounded = new PGSimpleDataSource();
        bounded.setUrl(database.jdbcUrl() + "&socketTimeout=60");

        assertThat(network(database.dataSource())).satisfies(found -> {
            assertThat(found.severity()).isEqualTo(Severity.NOTE);
            assertThat(found.advice()).contains("socketTimeout", "tcpKeepAlive", "connectTimeout", "loginTimeout");
        });
        assertThat(network(bounded).severity()).isEqualTo(Severity.OK);
    }

    private static Diagnosis network(DataSource dataSource) {
        return Admin.of(dataSource).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS).stream()
                .filter(found -> found.check().equals("network"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void missingAndInvalidIndexesAreFound() {
        tables.execute("DROP INDEX outbox_key_due");
        tables.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'outbox_ready'::regclass");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .allSatisfy(found -> assertThat(found.check()).isEqualTo("outbox schema"))
                .extracting(Diagnosis::evidence)
                .containsExactlyInAnyOrder("INDEX_MISSING", "INDEX_INVALID");
    }

    @Test
    void aTableOnItsWayIsNoted() {
        tables.execute("COMMENT ON TABLE inbox IS 'dev.outbox inbox phase 2'");

        assertThat(tables.admin().doctor().examine(Tables.NO_OLD_TRANSACTIONS))
                .filteredOn(found -> found.check().equals("inbox schema"))
                .singleElement()
                .satisfies(found -> assertThat(found.evidence()).isEqualTo("phase 2"));
    }

    @Test
    void clocksThatDifferAreFound() {
        Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofHours(1));

        assertThat(Admin.of(tables.dataSource).clock(ahead).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS))
                .filteredOn(found -> found.severity() == Severity.WARN)
                .singleElement()
                .satisfies(found -> assertThat(found.check()).isEqualTo("clocks"));
    }

    @Test
    void aLeaseThatNobodyTakesBackIsFound() {
        tables.enqueue(Message.to("orders").payload("x"));
        tables.execute("UPDATE outbox SET status = 1, owner_token = gen_random_uuid(),"
                + " locked_until = statement_timestamp() - interval '1 hour'");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox leases");
            assertThat(found.what()).startsWith("1 items");
        });
    }

    @Test
    void keysBehindADeadOrFailingHeadAreNamed() {
        tables.enqueue(Message.to("orders").key("order-42").payload("x"));
        tables.killAll("poison", OnDead.BLOCK);
        tables.enqueue(Message.to("orders").key("order-43").payload("x"));
        tables.failAll("refused");
        tables.enqueue(Message.to("orders").key("order-43").payload("x"));

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox keys");
            assertThat(found.evidence()).contains("order-42 (0 wait", "Dead", "order-43 (1 wait", "failing, attempt 1");
        });
    }

    @Test
    void whatIsDoneAndNeverRemovedIsFound() {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'x', 2, statement_timestamp() - n * interval '1 day'
                FROM generate_series(1, 40) AS n
                """);

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS)).isEmpty();
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS.doneRows(30).retention(Duration.ofDays(41))))
                .isEmpty();
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS.doneRows(30)))
                .singleElement()
                .satisfies(found -> {
                    assertThat(found.check()).isEqualTo("outbox retention");
                    assertThat(found.evidence()).isEqualTo("about 40 items, the oldest Done for 40 days");
                });
    }

    @Test
    void aLargeTableIsFound() {
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS.tableBytes(1)))
                .extracting(Diagnosis::check)
                .containsExactly("outbox size", "inbox size");
    }

    @Test
    void whatCannotBeSeenIsSkippedAndSaid() {
        tables.execute("DROP TABLE outbox_pollers");

        Set<String> skipped = tables.admin().doctor().examine(Tables.NO_OLD_TRANSACTIONS).stream()
                .filter(found -> found.severity() == Severity.SKIPPED)
                .map(Diagnosis::advice)
                .collect(Collectors.toSet());
        assertThat(skipped).containsExactly("create it with OutboxMigrations.installAdmin(...)");
        assertThatThrownBy(() -> Admin.of(tables.dataSource)
                        .outbox("nowhere")
                        .build()
                        .doctor()
                        .examine())
                .isInstanceOf(OutboxException.class);
    }
}
