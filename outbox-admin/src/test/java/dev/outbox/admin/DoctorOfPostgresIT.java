package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.outbox.admin.Diagnosis.Severity;
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
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;
import org.postgresql.ds.PGSimpleDataSource;

/** Each trouble of a PostgreSQL server is made on a real one, and found. */
class DoctorOfPostgresIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
    }

    @Test
    void aStricterDefaultIsolationIsFound(EmbeddedDatabase database) {
        tables.execute("ALTER DATABASE " + tables.value("SELECT current_database()")
                + " SET default_transaction_isolation = 'serializable'");

        assertThat(Admin.of(database.dataSource()).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS))
                .filteredOn(found -> found.severity() == Severity.WARN)
                .singleElement()
                .satisfies(found -> assertThat(found.evidence()).contains("serializable"));
    }

    @Test
    void autovacuumThatWillNotKeepUpIsFound() {
        tables.execute("ALTER TABLE outbox RESET (autovacuum_vacuum_scale_factor)");
        tables.execute("ALTER TABLE inbox SET (autovacuum_enabled = off)");

        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS))
                .extracting(Diagnosis::check)
                .containsExactly("outbox autovacuum", "inbox autovacuum");
        assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS).get(0).advice())
                .startsWith("ALTER TABLE \"public\".\"outbox\" SET");
    }

    @Test
    void deadTuplesAreFound() throws SQLException {
        tables.execute("ALTER TABLE outbox SET (autovacuum_enabled = off)");
        try (Connection connection = tables.dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO outbox (work_item_id, topic, payload) SELECT gen_random_uuid(), 't', 'x'"
                    + " FROM generate_series(1, 100)");
            statement.execute("DELETE FROM outbox");
            statement.execute("SELECT pg_stat_force_next_flush()"); // tells the statistics
        }

        await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS.deadTuples(50)))
                        .extracting(Diagnosis::check)
                        .contains("outbox dead tuples"));
    }

    @Test
    void whoHoldsAnOldSnapshotIsNamed() throws SQLException {
        try (Connection holder = tables.dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SET LOCAL application_name = 'nightly report'");
            String pid = holder.unwrap(PGConnection.class).getBackendPID() + "";

            assertThat(tables.troubles(Tables.NO_OLD_TRANSACTIONS.transaction(Duration.ZERO)))
                    .filteredOn(found -> found.check().equals("snapshots"))
                    .singleElement()
                    .satisfies(found -> assertThat(found.evidence()).contains("session " + pid, "(nightly report)"));
            holder.rollback();
        }
    }

    @Test
    void whoMayNotSeeTransactionsIsToldWhatToGrant(EmbeddedDatabase database) {
        String role = "blind_" + System.nanoTime();
        tables.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        tables.execute(Role.VIEWER.grants(Database.POSTGRES, role, "public", "outbox", "inbox"));
        try {
            PGSimpleDataSource blind = new PGSimpleDataSource();
            blind.setUrl(database.jdbcUrl());
            blind.setUser(role);
            blind.setPassword("secret");

            assertThat(of("snapshots", Admin.of(blind).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS)))
                    .singleElement()
                    .satisfies(found -> {
                        assertThat(found.severity()).isEqualTo(Severity.SKIPPED);
                        assertThat(found.advice()).isEqualTo("GRANT pg_monitor TO \"" + role + "\"");
                    });
            tables.execute("GRANT pg_monitor TO " + role);
            assertThat(of("snapshots", Admin.of(blind).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS)))
                    .singleElement()
                    .satisfies(found -> assertThat(found.severity()).isEqualTo(Severity.OK));
        } finally {
            tables.execute("DROP OWNED BY " + role);
            tables.execute("DROP ROLE " + role);
        }
    }

    @Test
    void anIdleReplicationSlotIsNamed() {
        String slot = "slot_" + tables.value("SELECT current_database()");
        tables.rows("SELECT pg_create_physical_replication_slot(?, true)", slot);
        try {
            assertThat(of("replication slots", tables.troubles(Tables.NO_OLD_TRANSACTIONS)))
                    .singleElement()
                    .satisfies(found -> assertThat(found.evidence()).contains(slot));
        } finally {
            tables.rows("SELECT pg_drop_replication_slot(?)", slot);
        }
    }

    /** As a standby with hot_standby_feedback would do it: the slot is in use, and keeps rows all the same. */
    @Test
    void aReplicationSlotThatKeepsRowsIsNamed(EmbeddedDatabase database) throws Exception {
        String slot = "slot_" + tables.value("SELECT current_database()");
        tables.rows("SELECT pg_create_physical_replication_slot(?, true)", slot);
        try {
            int seen = Integer.parseInt(tables.value("SELECT txid_current() % 2147483648"));
            try (Connection standby = standby(database)) {
                CopyDual stream = standby.unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyDual("START_REPLICATION SLOT " + slot + " PHYSICAL "
                                + tables.value("SELECT pg_current_wal_flush_lsn()"));
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
                        .until(() -> tables.value("SELECT xmin FROM pg_replication_slots WHERE slot_name = ?", slot)
                                != null);
                tables.value("SELECT txid_current()");
                tables.value("SELECT txid_current()");

                assertThat(of("replication slots", tables.troubles(Tables.NO_OLD_TRANSACTIONS.slotAge(1))))
                        .singleElement()
                        .satisfies(found -> {
                            assertThat(found.what()).contains("keeps vacuum from cleaning up");
                            assertThat(found.evidence()).contains(slot, "transactions back");
                        });
                assertThat(of("replication slots", tables.troubles(Tables.NO_OLD_TRANSACTIONS.slotAge(1_000_000_000))))
                        .isEmpty();
            }
        } finally {
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> tables.value("SELECT active FROM pg_replication_slots WHERE slot_name = ?", slot)
                            .equals("f"));
            tables.rows("SELECT pg_drop_replication_slot(?)", slot);
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
        DataSource pooled = behindAPooler(tables.dataSource, connection -> connection);

        assertThat(Admin.of(pooled).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS))
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
        try (Connection one = tables.dataSource.getConnection();
                Connection other = tables.dataSource.getConnection()) {
            Iterator<Connection> turns =
                    Stream.iterate(one, last -> last == one ? other : one).iterator();
            DataSource pooled = behindAPooler(tables.dataSource, connection -> turns.next());

            assertThat(of("pooler", Admin.of(pooled).build().doctor().examine(Tables.NO_OLD_TRANSACTIONS)))
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
}
