package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Role;
import dev.outbox.spi.Heartbeat;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Each role can do its task, and nothing else. */
class RolesIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private static final String NOT_ALLOWED = "42501";

    private final Map<Role, PGSimpleDataSource> roles = new EnumMap<>(Role.class);
    private Tables tables;
    private EmbeddedDatabase database;

    @BeforeEach
    void open(DataSource dataSource, EmbeddedDatabase database) {
        this.tables = new Tables(dataSource);
        this.database = database;
    }

    /** A login that has this role; made when it is first asked for. */
    private PGSimpleDataSource login(Role role) {
        return roles.computeIfAbsent(role, missing -> {
            String name = role.name().toLowerCase(Locale.ROOT) + "_"
                    + UUID.randomUUID().toString().substring(0, 8);
            tables.execute("CREATE ROLE " + name + " LOGIN PASSWORD 'secret'");
            tables.execute(role.grants(Database.POSTGRES, name, "public", "outbox", "inbox"));
            PGSimpleDataSource as = new PGSimpleDataSource();
            as.setUrl(database.jdbcUrl());
            as.setUser(name);
            as.setPassword("secret");
            return as;
        });
    }

    /** They belong to the server, not to the database of the test. */
    @AfterEach
    void drop() {
        roles.values().forEach(as -> {
            tables.execute("DROP OWNED BY " + as.getUser());
            tables.execute("DROP ROLE " + as.getUser());
        });
    }

    private Tables as(Role role) {
        return new Tables(login(role));
    }

    @Test
    void theMigratorCreatesTables() {
        OutboxMigrations.install(login(Role.MIGRATOR), "mine");
        OutboxMigrations.installLookup(login(Role.MIGRATOR), "mine");

        cannot(Role.MIGRATOR, "SELECT count(*) FROM outbox");
    }

    @Test
    void theProducerEnqueuesAndSeesNothing() {
        String id = as(Role.PRODUCER).enqueue(Message.to("orders").key("k").payload("x"));
        as(Role.PRODUCER)
                .enqueue(Message.to("orders").id(UUID.randomUUID().toString()).payload("x"));

        assertThat(tables.value("SELECT payload FROM outbox WHERE work_item_id = ?::uuid", id))
                .isEqualTo("x");
        cannot(Role.PRODUCER, "SELECT payload FROM outbox");
        cannot(Role.PRODUCER, "UPDATE outbox SET status = 2");
        cannot(Role.PRODUCER, "DELETE FROM outbox");
        cannot(Role.PRODUCER, "SELECT message_id FROM inbox");
        cannot(Role.PRODUCER, "SELECT actor FROM outbox_audit");
    }

    @Test
    void theReceiverReceivesAndSeesNoContent() {
        Incoming message = Incoming.from("shop", "m-1").topic("orders").key("k").payload("x");
        assertThat(as(Role.RECEIVER).enqueue(message).isFirst()).isTrue();
        assertThat(as(Role.RECEIVER).enqueue(message).isFirst()).isFalse();

        cannot(Role.RECEIVER, "SELECT payload FROM inbox");
        cannot(Role.RECEIVER, "UPDATE inbox SET status = 2");
        cannot(Role.RECEIVER, "DELETE FROM inbox");
        cannot(Role.RECEIVER, "INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'x')");
    }

    @Test
    void thePollerMovesWhatOthersStored() {
        tables.enqueue(Message.to("orders").key("k").payload("1"));
        tables.enqueue(Message.to("orders").payload("2"));
        tables.enqueue(Incoming.from("shop", "m-1").topic("orders").payload("x"));
        Tables poller = as(Role.POLLER);

        assertThat(poller.deliver()).hasSize(2);
        assertThat(poller.inbox.poller().inTransaction((tx, item) -> {}).build().pollOnce())
                .isOne();
        assertThat(poller.outbox.purge(Duration.ZERO)).isEqualTo(2);
        tables.dead(Incoming.from("shop", "m-2").topic("orders").key("k").payload("x"), "e");
        assertThatCode(() -> poller.inbox.requeue("shop", "m-2")).doesNotThrowAnyException();
        poller.outbox
                .source()
                .heartbeat(new Heartbeat(
                        "node-1", "1", Duration.ZERO, null, Duration.ZERO, Duration.ZERO, null, null, false));
        assertThat(tables.value("SELECT poller FROM outbox_pollers")).isEqualTo("node-1");
        cannot(Role.POLLER, "INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'x')");
        cannot(Role.POLLER, "SELECT actor FROM outbox_audit");
        cannot(Role.POLLER, "TRUNCATE outbox");
    }

    @Test
    void theViewerSeesAllButThePayload() {
        ItemRef ref = tables.dead(Message.to("orders").key("k").header("h", "v").payload("secret"), "e");
        tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("secret"), "e");
        Admin viewer =
                Admin.of(login(Role.VIEWER)).glanceTimeout(Tables.PATIENCE).build();

        assertThat(viewer.deadLetters()
                        .list(DeadFilter.all().error("e"), Page.first(5))
                        .items())
                .hasSize(2);
        assertThat(viewer.deadLetters().show(ref)).isPresent();
        assertThat(viewer.lookup().byKey("k", Page.first(5)).items()).hasSize(1);
        assertThat(viewer.status()).hasSize(2);
        assertThat(viewer.statusExactly()).hasSize(2);
        assertThat(viewer.health().state()).isEqualTo(Health.State.UP);
        assertThatCode(() -> viewer.doctor().examine()).doesNotThrowAnyException();
        assertThat(viewer.purge(TableKind.OUTBOX, Duration.ZERO, true).count()).isZero();
        assertThat(viewer.deadLetters()
                        .requeue(DeadFilter.all(), Requeue.by("x", "y").asDryRun())
                        .count())
                .isEqualTo(2);
        notAllowed(() -> viewer.deadLetters().showWithPayload(ref));
        notAllowed(() -> viewer.deadLetters().requeue(DeadFilter.all(), Requeue.by("x", "y")));
        notAllowed(() -> viewer.deadLetters().discard(DeadFilter.all(), Discard.by("x", "y")));
        notAllowed(() -> viewer.purge(TableKind.OUTBOX, Duration.ZERO, false));
        cannot(Role.VIEWER, "SELECT payload_bytes FROM inbox");
    }

    @Test
    void theOperatorActsAndCannotHideIt() {
        ItemRef requeued = tables.dead(Message.to("orders").key("k").payload("x"), "e");
        tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("x"), "e");
        Admin operator = Admin.of(login(Role.OPERATOR)).build();

        assertThat(operator.deadLetters().showWithPayload(requeued)).isPresent();
        assertThat(operator.deadLetters()
                        .requeue(List.of(requeued), Requeue.by("x", "y"))
                        .count())
                .isOne();
        assertThat(operator.deadLetters()
                        .discard(DeadFilter.all(), Discard.by("x", "y"))
                        .count())
                .isOne();
        operator.purge(TableKind.OUTBOX, Duration.ZERO, false);
        cannot(Role.OPERATOR, "DELETE FROM outbox_audit");
        cannot(Role.OPERATOR, "UPDATE outbox_audit SET actor = 'somebody'");
        cannot(Role.OPERATOR, "INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'x')");
    }

    private void cannot(Role role, String sql) {
        try (Connection connection = login(role).getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute(sql))
                    .as(role + ": " + sql)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(NOT_ALLOWED));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void notAllowed(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        OutboxException.class, e -> assertThat(e.sqlState()).isEqualTo(NOT_ALLOWED));
    }
}
