package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.UnknownTypeException;
import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.delivery.Poller;
import dev.outbox.jdbc.Database;
import dev.outbox.migrations.Role;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;
import org.postgresql.ds.PGSimpleDataSource;

/** Each trouble is made on a real server, and found. */
class DoctorIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Boxes.extension();

    /** A busy machine may have slow neighbours, with long transactions of their own. */
    private static final DoctorLimits PATIENT = DoctorLimits.standard().transaction(Duration.ofDays(1));

    private Boxes boxes;

    @BeforeEach
    void open(DataSource dataSource) {
        boxes = new Boxes(dataSource);
    }

    @Test
    void aCleanDatabaseIsWell() {
        List<Diagnosis> all = boxes.admin().doctor().examine(PATIENT);

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
        return Admin.of(dataSource).build().doctor().examine(PATIENT).stream()
                .filter(found -> found.check().equals("network"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void missingAndInvalidIndexesAreFound() {
        boxes.execute("DROP INDEX outbox_key_due");
        boxes.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'outbox_ready'::regclass");

        assertThat(troubles(PATIENT))
                .allSatisfy(found -> assertThat(found.check()).isEqualTo("outbox schema"))
                .extracting(Diagnosis::evidence)
                .containsExactlyInAnyOrder("INDEX_MISSING", "INDEX_INVALID");
    }

    @Test
    void aTableOnItsWayIsNoted() {
        boxes.execute("COMMENT ON TABLE inbox IS 'dev.outbox inbox phase 2'");

        assertThat(boxes.admin().doctor().examine(PATIENT))
                .filteredOn(found -> found.check().equals("inbox schema"))
                .singleElement()
                .satisfies(found -> assertThat(found.evidence()).isEqualTo("phase 2"));
    }

    @Test
    void aStricterDefaultIsolationIsFound(EmbeddedDatabase database) {
        boxes.execute("ALTER DATABASE " + boxes.value("SELECT current_database()")
                + " SET default_transaction_isolation = 'serializable'");

        assertThat(Admin.of(database.dataSource()).build().doctor().examine(PATIENT))
                .filteredOn(found -> found.severity() == Severity.WARN)
                .singleElement()
                .satisfies(found -> assertThat(found.evidence()).contains("serializable"));
    }

    @Test
    void autovacuumThatWillNotKeepUpIsFound() {
        boxes.execute("ALTER TABLE outbox RESET (autovacuum_vacuum_scale_factor)");
        boxes.execute("ALTER TABLE inbox SET (autovacuum_enabled = off)");

        assertThat(troubles(PATIENT))
                .extracting(Diagnosis::check)
                .containsExactly("outbox autovacuum", "inbox autovacuum");
        assertThat(troubles(PATIENT).get(0).advice()).startsWith("ALTER TABLE \"public\".\"outbox\" SET");
    }

    @Test
    void deadTuplesAreFound() throws SQLException {
        boxes.execute("ALTER TABLE outbox SET (autovacuum_enabled = off)");
        try (Connection connection = boxes.dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO outbox (work_item_id, topic, payload) SELECT gen_random_uuid(), 't', 'x'"
                    + " FROM generate_series(1, 100)");
            statement.execute("DELETE FROM outbox");
            statement.execute("SELECT pg_stat_force_next_flush()"); // tells the statistics
        }

        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(troubles(PATIENT.deadTuples(50)))
                        .extracting(Diagnosis::check)
                        .contains("outbox dead tuples"));
    }

    @Test
    void whoHoldsAnOldSnapshotIsNamed() throws SQLException {
        try (Connection holder = boxes.dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SET LOCAL application_name = 'nightly report'");
            String pid = holder.unwrap(PGConnection.class).getBackendPID() + "";

            assertThat(troubles(PATIENT.transaction(Duration.ZERO)))
                    .filteredOn(found -> found.check().equals("snapshots"))
                    .singleElement()
                    .satisfies(found -> assertThat(found.evidence()).contains("session " + pid, "(nightly report)"));
            holder.rollback();
        }
    }

    @Test
    void whoMayNotSeeTransactionsIsToldWhatToGrant(EmbeddedDatabase database) {
        String role = "blind_" + System.nanoTime();
        boxes.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        boxes.execute(Role.VIEWER.grants(Database.POSTGRES, role, "public", "outbox", "inbox"));
        try {
            PGSimpleDataSource blind = new PGSimpleDataSource();
            blind.setUrl(database.jdbcUrl());
            blind.setUser(role);
            blind.setPassword("secret");

            assertThat(of("snapshots", Admin.of(blind).build().doctor().examine(PATIENT)))
                    .singleElement()
                    .satisfies(found -> {
                        assertThat(found.severity()).isEqualTo(Severity.SKIPPED);
                        assertThat(found.advice()).isEqualTo("GRANT pg_monitor TO \"" + role + "\"");
                    });
            boxes.execute("GRANT pg_monitor TO " + role);
            assertThat(of("snapshots", Admin.of(blind).build().doctor().examine(PATIENT)))
                    .singleElement()
                    .satisfies(found -> assertThat(found.severity()).isEqualTo(Severity.OK));
        } finally {
            boxes.execute("DROP OWNED BY " + role);
            boxes.execute("DROP ROLE " + role);
        }
    }

    @Test
    void anIdleReplicationSlotIsNamed() {
        String slot = "slot_" + boxes.value("SELECT current_database()");
        boxes.rows("SELECT pg_create_physical_replication_slot(?, true)", slot);
        try {
            assertThat(of("replication slots", troubles(PATIENT)))
                    .singleElement()
                    .satisfies(found -> assertThat(found.evidence()).contains(slot));
        } finally {
            boxes.rows("SELECT pg_drop_replication_slot(?)", slot);
        }
    }

    /** As a standby with hot_standby_feedback would do it: the slot is in use, and keeps rows all the same. */
    @Test
    void aReplicationSlotThatKeepsRowsIsNamed(EmbeddedDatabase database) throws Exception {
        String slot = "slot_" + boxes.value("SELECT current_database()");
        boxes.rows("SELECT pg_create_physical_replication_slot(?, true)", slot);
        try {
            int seen = Integer.parseInt(boxes.value("SELECT txid_current() % 2147483648"));
            try (Connection standby = standby(database)) {
                CopyDual stream = standby.unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyDual("START_REPLICATION SLOT " + slot + " PHYSICAL "
                                + boxes.value("SELECT pg_current_wal_flush_lsn()"));
                byte[] feedback = ByteBuffer.allocate(25)
                        .put((byte) 'h')
                        .putLong(0)
                        .putInt(seen)
                        .putInt(0)
                        .putInt(0)
                        .putInt(0)
                        .array();
                stream.writeToCopy(feedback, 0, feedback.length);
                stream.flushCopy();
                await().atMost(Duration.ofMinutes(2))
                        .until(() ->
                                boxes.value("SELECT xmin FROM pg_replication_slots WHERE slot_name = ?", slot) != null);
                boxes.value("SELECT txid_current()");
                boxes.value("SELECT txid_current()");

                assertThat(of("replication slots", troubles(PATIENT.slotAge(1))))
                        .singleElement()
                        .satisfies(found -> {
                            assertThat(found.what()).contains("keeps vacuum from cleaning up");
                            assertThat(found.evidence()).contains(slot, "transactions back");
                        });
                assertThat(of("replication slots", troubles(PATIENT.slotAge(1_000_000_000))))
                        .isEmpty();
            }
        } finally {
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> boxes.value("SELECT active FROM pg_replication_slots WHERE slot_name = ?", slot)
                            .equals("f"));
            boxes.rows("SELECT pg_drop_replication_slot(?)", slot);
        }
    }

    private static Connection standby(EmbeddedDatabase database) throws SQLException {
        try {
            return DriverManager.getConnection(
                    database.jdbcUrl() + "&replication=true&preferQueryMode=simple&assumeMinServerVersion=14");
        } catch (SQLException e) {
            assumeFalse("28000".equals(e.getSQLState()), "the server lets nobody replicate from here");
            throw e;
        }
    }

    private static List<Diagnosis> of(String check, List<Diagnosis> found) {
        return found.stream()
                .filter(diagnosis -> diagnosis.check().equals(check))
                .toList();
    }

    @Test
    void aPoolerIsRecognisedByTheProcessThatAnswers() {
        DataSource pooled = behindAPooler(boxes.dataSource, connection -> connection);

        assertThat(Admin.of(pooled).build().doctor().examine(PATIENT))
                .filteredOn(found ->
                        found.severity() == Severity.NOTE && !found.check().equals("network"))
                .singleElement()
                .satisfies(found -> {
                    assertThat(found.check()).isEqualTo("pooler");
                    assertThat(found.what()).doesNotContain("mode");
                    assertThat(found.advice()).contains("pool_mode");
                });
    }

    @Test
    void aPoolerInTransactionModeIsRecognisedByProcessesThatChange() throws SQLException {
        try (Connection one = boxes.dataSource.getConnection();
                Connection other = boxes.dataSource.getConnection()) {
            Iterator<Connection> turns =
                    Stream.iterate(one, last -> last == one ? other : one).iterator();
            DataSource pooled = behindAPooler(boxes.dataSource, connection -> turns.next());

            assertThat(of("pooler", Admin.of(pooled).build().doctor().examine(PATIENT)))
                    .singleElement()
                    .satisfies(found -> assertThat(found.what()).contains("in transaction mode"));
        }
    }

    /**
     * As behind a pooler: the driver was told another process than the one that will answer.
     *
     * @param server which connection a statement without parameters goes to
     */
    private static DataSource behindAPooler(DataSource dataSource, UnaryOperator<Connection> server) {
        PGConnection told = proxy(PGConnection.class, (method, arguments) -> 1);
        return proxy(DataSource.class, (method, arguments) -> {
            Connection connection = dataSource.getConnection();
            return proxy(Connection.class, (called, given) -> switch (called.getName()) {
                case "unwrap" -> told;
                case "createStatement" -> server.apply(connection).createStatement();
                default -> called.invoke(connection, given);
            });
        });
    }

    private interface Call {
        Object on(Method method, Object[] arguments) throws Exception;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            try {
                return call.on(method, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    @Test
    void clocksThatDifferAreFound() {
        Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofHours(1));

        assertThat(Admin.of(boxes.dataSource).clock(ahead).build().doctor().examine(PATIENT))
                .filteredOn(found -> found.severity() == Severity.WARN)
                .singleElement()
                .satisfies(found -> assertThat(found.check()).isEqualTo("clocks"));
    }

    @Test
    void aLeaseThatNobodyTakesBackIsFound() {
        boxes.enqueue(Message.to("orders").payload("x"));
        boxes.execute("UPDATE outbox SET status = 1, owner_token = gen_random_uuid(),"
                + " locked_until = statement_timestamp() - interval '1 hour'");

        assertThat(troubles(PATIENT)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox leases");
            assertThat(found.what()).startsWith("1 items");
        });
    }

    @Test
    void keysBehindADeadOrFailingHeadAreNamed() {
        boxes.enqueue(Message.to("orders").key("order-42").payload("x"));
        boxes.killAll("poison", OnDead.BLOCK);
        boxes.enqueue(Message.to("orders").key("order-43").payload("x"));
        boxes.failAll("refused");
        boxes.enqueue(Message.to("orders").key("order-43").payload("x"));

        assertThat(troubles(PATIENT)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox keys");
            assertThat(found.evidence()).contains("order-42 (0 wait", "Dead", "order-43 (1 wait", "failing, attempt 1");
        });
    }

    @Test
    void silentSlowAndOutdatedPollersAreNamed() {
        boxes.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, lease_ms, longest_delivery_ms, phase, table_name, poller,
                    version)
                VALUES (statement_timestamp(), statement_timestamp() - interval '1 hour', 30000, 10, 4, 'public.outbox',
                        'silent', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 31000, 4, 'public.outbox', 'slow', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 10, 3, 'public.outbox', 'outdated', '1'),
                    (statement_timestamp(), statement_timestamp(), 30000, 10, 4, 'public.outbox', 'well', '1')
                """);

        assertThat(troubles(PATIENT))
                .extracting(Diagnosis::what)
                .containsExactly(
                        "poller outdated reads an older layout",
                        "deliveries of poller slow take longer than its lease");
        boxes.execute("DELETE FROM outbox_pollers WHERE poller <> 'silent'");
        assertThat(troubles(PATIENT)).extracting(Diagnosis::what).containsExactly("poller silent is silent");
    }

    @Test
    void aPollerThatSurvivedAnErrorWithinTheHourIsFound() {
        boxes.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_error_on, last_error, lease_ms, longest_delivery_ms,
                    phase, table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '50 minutes',
                        'java.lang.OutOfMemoryError: Java heap space', 30000, 10, 4, 'public.outbox', 'shaken', '1'),
                    (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '70 minutes',
                        'java.lang.StackOverflowError', 30000, 10, 4, 'public.outbox', 'recovered', '1')
                """);

        assertThat(troubles(PATIENT)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox pollers");
            assertThat(found.what()).isEqualTo("poller shaken of public.outbox survived an error");
            assertThat(found.evidence()).startsWith("at ").endsWith("Z: java.lang.OutOfMemoryError: Java heap space");
        });
    }

    @Test
    void nobodyWhoPollsWhatIsDueIsFound() {
        boxes.enqueue(Message.to("orders").payload("x"));
        assertThat(troubles(PATIENT)).isEmpty();
        boxes.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes'");

        assertThat(troubles(PATIENT)).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox pollers");
            assertThat(found.what()).isEqualTo("nobody polls, and items are due");
            assertThat(found.evidence()).contains("PT10M", "pollers known: 0");
        });
    }

    @Test
    void aPollerThatIsAliveAndClaimsNothingIsFound() {
        boxes.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms, phase,
                    table_name, poller, version)
                VALUES (statement_timestamp() - interval '1 day', statement_timestamp(),
                        statement_timestamp() - interval '10 minutes', 30000, 10, 4, 'public.outbox', 'refused', '1'),
                    (statement_timestamp() - interval '1 day', statement_timestamp(), NULL, 30000, 10, 4, 'public.outbox',
                        'never', '1'),
                    (statement_timestamp() - interval '1 day', statement_timestamp(), statement_timestamp(), 30000, 10, 4,
                        'public.outbox', 'well', '1')
                """);
        assertThat(troubles(PATIENT)).isEmpty();
        boxes.enqueue(Message.to("orders").payload("x"));
        boxes.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes'");

        assertThat(troubles(PATIENT))
                .extracting(Diagnosis::what)
                .containsExactly(
                        "items of topic orders are due, and no poller delivers them",
                        "poller never is alive, but does not claim what is due",
                        "poller refused is alive, but does not claim what is due");
    }

    @Test
    void topicsAndTypesThatNoPollerHandlesAreFound() {
        boxes.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms, phase,
                    table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp(), 30000, 10, 4, 'public.outbox',
                    'well', '1')
                """);
        boxes.enqueue(Message.to("orders").payload("x"));
        boxes.enqueue(Message.to("orders").key("k").payload("x"));
        try (Poller poller = boxes.outbox
                .poller()
                .to(item -> {
                    throw new UnknownTypeException("unknown type orders.v9");
                })
                .build()) {
            assertThat(poller.pollOnce() + poller.pollOnce()).isEqualTo(2); // with and without keys
        }
        boxes.enqueue(Message.to("refunds").payload("x"));
        boxes.enqueue(Message.to("mails").payload("x"));
        boxes.enqueue(Message.to("mails").payload("x"));
        boxes.enqueue(Message.to("tomorrow").payload("x").dueIn(Duration.ofDays(1)));
        assertThat(troubles(PATIENT)).isEmpty();

        boxes.execute("UPDATE outbox SET created_on = created_on - interval '10 minutes',"
                + " first_due_on = first_due_on - interval '10 minutes'");
        boxes.execute("UPDATE outbox SET status = 1, owner_token = gen_random_uuid(),"
                + " locked_until = statement_timestamp() + interval '1 minute'"
                + " WHERE sequence = (SELECT min(sequence) FROM outbox WHERE topic = 'mails')");

        assertThat(troubles(PATIENT))
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

    @Test
    void whatIsDoneAndNeverRemovedIsFound() {
        boxes.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'x', 2, statement_timestamp() - n * interval '1 day'
                FROM generate_series(1, 40) AS n
                """);

        assertThat(troubles(PATIENT)).isEmpty();
        assertThat(troubles(PATIENT.doneRows(30).retention(Duration.ofDays(41))))
                .isEmpty();
        assertThat(troubles(PATIENT.doneRows(30))).singleElement().satisfies(found -> {
            assertThat(found.check()).isEqualTo("outbox retention");
            assertThat(found.evidence()).isEqualTo("about 40 items, the oldest Done for 40 days");
        });
    }

    @Test
    void aLargeTableIsFound() {
        assertThat(troubles(PATIENT.tableBytes(1)))
                .extracting(Diagnosis::check)
                .containsExactly("outbox size", "inbox size");
    }

    @Test
    void whatCannotBeSeenIsSkippedAndSaid() {
        boxes.execute("DROP TABLE outbox_pollers");

        Set<String> skipped = boxes.admin().doctor().examine(PATIENT).stream()
                .filter(found -> found.severity() == Severity.SKIPPED)
                .map(Diagnosis::advice)
                .collect(Collectors.toSet());
        assertThat(skipped).containsExactly("create it with OutboxMigrations.installAdmin(...)");
        assertThatThrownBy(() -> Admin.of(boxes.dataSource)
                        .outbox("nowhere")
                        .build()
                        .doctor()
                        .examine())
                .isInstanceOf(OutboxException.class);
    }

    private List<Diagnosis> troubles(DoctorLimits limits) {
        return boxes.admin().doctor().examine(limits).stream()
                .filter(found -> Arrays.asList(Severity.WARN, Severity.FAIL).contains(found.severity()))
                .toList();
    }
}
