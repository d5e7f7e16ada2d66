package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.admin.Admin;
import dev.outbox.admin.Box;
import dev.outbox.admin.DeadFilter;
import dev.outbox.admin.Discard;
import dev.outbox.admin.ItemRef;
import dev.outbox.admin.Page;
import dev.outbox.admin.Requeue;
import dev.outbox.jdbc.Database;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Role;
import dev.outbox.spi.Heartbeat;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Each role can do its task, and nothing else, on SQL Server. */
class SqlServerRolesIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends Logins {
        OnTheServerGiven() {
            super(Server.GIVEN);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends Logins {
        On2019() {
            super(Server.V2019);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends Logins {
        On2022() {
            super(Server.V2022);
        }
    }

    abstract static class Logins {
        /** On an object, on a column; and Babelfish's number of all that has none there. */
        private static final Set<Integer> NOT_ALLOWED = Set.of(229, 230, 33_557_097);

        private static final String PASSWORD = "Secret-0-word";

        private final Map<Role, SqlServerDatabase> logins = new EnumMap<>(Role.class);
        private final Map<Role, String> names = new EnumMap<>(Role.class);
        private final SqlServerDatabase database;
        private final String table;
        private final String inboxTable;

        Logins(Server server) {
            this.database = server.database(Server.Variant.AS_IT_IS);
            this.table = database.emptyTable();
            this.inboxTable = database.emptyInboxTable();
        }

        @BeforeEach
        void installAdmin() {
            OutboxMigrations.installAdmin(database.pool());
            database.execute("DELETE FROM outbox_audit");
            database.execute("DELETE FROM outbox_pollers");
        }

        /** A login that has this role; made when it is first asked for. */
        private SqlServerDatabase login(Role role) {
            return logins.computeIfAbsent(role, missing -> {
                String name = role.name().toLowerCase(Locale.ROOT) + "_"
                        + UUID.randomUUID().toString().substring(0, 8);
                database.execute("CREATE LOGIN " + name + " WITH PASSWORD = '" + PASSWORD + "'");
                database.execute("CREATE USER " + name + " FOR LOGIN " + name);
                names.put(role, name);
                grant(grants(role, name));
                String url = database.url().replaceAll("(?i);(user|password)=(\\{[^}]*}|[^;]*)", "");
                return new SqlServerDatabase(
                        url + ";user=" + name + ";password=" + PASSWORD, null, database.isBabelfish());
            });
        }

        private String grants(Role role, String name) {
            return role.grants(Database.SQLSERVER, name, "dbo", table, inboxTable);
        }

        private void grant(String grants) {
            for (String one : grants.replaceAll("(?m)^--.*$", "")
                    .strip()
                    .replace("\n", " ")
                    .split("; *")) {
                try (Connection connection = database.pool().getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute(one);
                } catch (SQLException e) {
                    abort("the server cannot " + one + ": error " + e.getErrorCode());
                }
            }
        }

        @AfterEach
        void drop() {
            names.forEach((role, name) -> {
                if (logins.containsKey(role)) {
                    logins.get(role).pool().close();
                }
                if (!database.isBabelfish()) { // where a user who may do something cannot be dropped
                    database.execute("DROP USER " + name);
                }
                await().ignoreExceptionsInstanceOf(IllegalStateException.class) // until its sessions have ended
                        .untilAsserted(() -> database.execute("DROP LOGIN " + name));
            });
        }

        private DataSource as(Role role) {
            return login(role).pool();
        }

        private Outbox outbox(Role role) {
            return SqlServerOutbox.builder(as(role)).table(table).build();
        }

        private Inbox inbox(DataSource dataSource) {
            return SqlServerInbox.builder(dataSource)
                    .table(inboxTable)
                    .consumer("billing")
                    .build();
        }

        private Admin admin(Role role) {
            return Admin.of(as(role))
                    .outbox(table)
                    .inbox(inboxTable)
                    .glanceTimeout(Duration.ofMinutes(2))
                    .build();
        }

        /** Whoever may see some columns of a table sees that it is there: not on every server. */
        private void assumeSeesTheTable(Role role, String seen) {
            assumeTrue(
                    login(role)
                            .query("SELECT COUNT(*) FROM sys.objects WHERE object_id = OBJECT_ID(?)", seen)
                            .equals(List.of("1")),
                    "the server's catalog does not show a table to a user who may see only some columns of it");
        }

        private void store(Message message) {
            database.commit(
                    SqlServerOutbox.builder(database.pool()).table(table).build(), List.of(message));
        }

        private boolean receive(DataSource dataSource, Incoming incoming) throws SQLException {
            try (Connection tx = dataSource.getConnection()) {
                tx.setAutoCommit(false);
                boolean first = inbox(dataSource).enqueue(tx, incoming).isFirst();
                tx.commit();
                tx.setAutoCommit(true);
                return first;
            }
        }

        private ItemRef deadItem() {
            store(Message.to("orders").key("k").header("h", "v").payload("secret"));
            Outbox outbox =
                    SqlServerOutbox.builder(database.pool()).table(table).build();
            int claimed;
            do {
                claimed = outbox.poller()
                        .to(item -> {
                            throw new PermanentFailureException("e");
                        })
                        .build()
                        .pollOnce();
            } while (claimed == 0);
            return new ItemRef(
                    Box.OUTBOX,
                    database.query("SELECT LOWER(CAST(WorkItemId AS nvarchar(36))) FROM " + table)
                            .get(0));
        }

        @Test
        void theMigratorCreatesTables() {
            OutboxMigrations.install(as(Role.MIGRATOR), "contract_mine");
            OutboxMigrations.installLookup(as(Role.MIGRATOR), "contract_mine");
            database.execute("DROP TABLE contract_mine");
            database.execute("DROP SEQUENCE contract_mine_sequence");

            cannot(Role.MIGRATOR, "SELECT COUNT(*) FROM " + table);
        }

        @Test
        void theProducerEnqueuesAndSeesNothing() {
            cannot(Role.PRODUCER, "SELECT Payload FROM " + table);
            cannot(Role.PRODUCER, "UPDATE " + table + " SET Status = 2");
            cannot(Role.PRODUCER, "DELETE FROM " + table);
            cannot(Role.PRODUCER, "SELECT MessageId FROM " + inboxTable);
            cannot(Role.PRODUCER, "SELECT Actor FROM outbox_audit");
            assumeSeesTheTable(Role.PRODUCER, table);

            login(Role.PRODUCER)
                    .commit(
                            outbox(Role.PRODUCER),
                            List.of(
                                    Message.to("orders").key("k").payload("x"),
                                    Message.to("orders").payload("x")));

            assertThat(database.query("SELECT Payload FROM " + table)).containsExactly("x", "x");
        }

        @Test
        void theReceiverReceivesAndSeesNoContent() throws SQLException {
            cannot(Role.RECEIVER, "SELECT Payload FROM " + inboxTable);
            cannot(Role.RECEIVER, "UPDATE " + inboxTable + " SET Status = 2");
            cannot(Role.RECEIVER, "DELETE FROM " + inboxTable);
            cannot(Role.RECEIVER, "SELECT WorkItemId FROM " + table);
            assumeSeesTheTable(Role.RECEIVER, inboxTable);

            Incoming message =
                    Incoming.from("shop", "m-1").topic("orders").key("k").payload("x");
            assertThat(receive(as(Role.RECEIVER), message)).isTrue();
            assertThat(receive(as(Role.RECEIVER), message)).isFalse();
        }

        @Test
        void thePollerMovesWhatOthersStored() throws SQLException {
            store(Message.to("orders").key("k").payload("1"));
            store(Message.to("orders").payload("2"));
            receive(
                    database.pool(),
                    Incoming.from("shop", "m-1").topic("orders").payload("x"));
            Outbox outbox = outbox(Role.POLLER);

            while (outbox.poller().to(item -> {}).build().pollOnce() > 0) {}
            assertThat(inbox(as(Role.POLLER))
                            .poller()
                            .inTransaction((tx, item) -> {})
                            .build()
                            .pollOnce())
                    .isOne();
            assertThat(outbox.purge(Duration.ZERO)).isEqualTo(2);
            outbox.source()
                    .heartbeat(new Heartbeat(
                            "node-1", "1", Duration.ZERO, null, Duration.ZERO, Duration.ZERO, null, null, false));
            assertThat(database.query("SELECT Poller FROM outbox_pollers")).containsExactly("node-1");
            cannot(Role.POLLER, "INSERT INTO " + table + " (WorkItemId, Topic, Payload) VALUES (NEWID(), N't', N'x')");
            cannot(Role.POLLER, "SELECT Actor FROM outbox_audit");
        }

        @Test
        void theViewerSeesAllButThePayload() {
            ItemRef ref = deadItem();
            cannot(Role.VIEWER, "SELECT Payload FROM " + table);
            cannot(Role.VIEWER, "SELECT PayloadBytes FROM " + inboxTable);
            cannot(Role.VIEWER, "UPDATE " + table + " SET Status = 2");
            assumeSeesTheTable(Role.VIEWER, table);
            Admin viewer = admin(Role.VIEWER);

            assertThat(viewer.deadLetters()
                            .list(DeadFilter.all(), Page.first(5))
                            .items())
                    .hasSize(1);
            assertThat(viewer.deadLetters().show(ref)).isPresent();
            assertThat(viewer.lookup().byKey("k", Page.first(5)).items()).hasSize(1);
            assertThat(viewer.status()).hasSize(2);
            assertThat(viewer.statusExactly()).hasSize(2);
            assertThatCode(viewer::health).doesNotThrowAnyException();
            assertThatCode(() -> viewer.doctor().examine()).doesNotThrowAnyException();
            assertThat(viewer.purge(Box.OUTBOX, Duration.ZERO, true).count()).isZero();
            notAllowed(() -> viewer.deadLetters().showWithPayload(ref));
            notAllowed(() -> viewer.deadLetters().requeue(DeadFilter.all(), Requeue.by("x", "y")));
            notAllowed(() -> viewer.deadLetters().discard(DeadFilter.all(), Discard.by("x", "y")));
            notAllowed(() -> viewer.purge(Box.OUTBOX, Duration.ZERO, false));
        }

        @Test
        void theOperatorActsAndCannotHideIt() {
            ItemRef ref = deadItem();
            Admin operator = admin(Role.OPERATOR);

            assertThat(operator.deadLetters().showWithPayload(ref)).isPresent();
            assertThat(operator.deadLetters()
                            .requeue(List.of(ref), Requeue.by("x", "y"))
                            .count())
                    .isOne();
            deadItem();
            assertThat(operator.deadLetters()
                            .discard(DeadFilter.all(), Discard.by("x", "y"))
                            .count())
                    .isPositive();
            operator.purge(Box.OUTBOX, Duration.ZERO, false);
            cannot(Role.OPERATOR, "DELETE FROM outbox_audit");
            cannot(Role.OPERATOR, "UPDATE outbox_audit SET Actor = N'somebody'");
            cannot(
                    Role.OPERATOR,
                    "INSERT INTO " + table + " (WorkItemId, Topic, Payload) VALUES (NEWID(), N't', N'x')");
        }

        private void cannot(Role role, String sql) {
            try (Connection connection = as(role).getConnection();
                    Statement statement = connection.createStatement()) {
                assertThatThrownBy(() -> statement.execute(sql))
                        .as(role + ": " + sql)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getErrorCode()).isIn(NOT_ALLOWED));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private static void notAllowed(ThrowingCallable call) {
            assertThatThrownBy(call)
                    .isInstanceOfSatisfying(
                            OutboxException.class,
                            e -> assertThat(e.vendorCode()).isIn(NOT_ALLOWED));
        }
    }
}
