package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TableNamesIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    @BeforeAll
    static void schemas() {
        DATABASE.execute("CREATE SCHEMA billing");
        DATABASE.execute("CREATE SCHEMA \"Shop\"");
        DATABASE.execute("CREATE SCHEMA \"tenant-a\"");
    }

    private static Outbox outbox(String table) {
        return PostgresOutbox.builder(DATABASE.pool()).table(table).build();
    }

    private static List<String> drain(Outbox outbox) {
        List<String> delivered = new ArrayList<>();
        try (Poller poller = outbox.poller()
                .to(item -> delivered.add(item.message().payload()))
                .concurrency(1)
                .build()) {
            poller.pollOnce();
        }
        return delivered;
    }

    @Test
    void outboxesSideBySideDoNotSeeEachOther() {
        List<String> tables = List.of(
                "outbox", "billing.outbox", "Shop.outbox", "Outbox", "Shop.OutBox_2", "select", "tenant-a.outbox");
        tables.forEach(table -> OutboxMigrations.install(DATABASE.pool(), table));
        List<Outbox> outboxes = tables.stream().map(TableNamesIT::outbox).toList();

        for (int i = 0; i < tables.size(); i++) {
            Message message = Message.to("t").id("same").key("same").payload(tables.get(i));
            assertThat(DATABASE.commit(outboxes.get(i), message)).containsExactly("same");
            assertThat(DATABASE.commit(outboxes.get(i), message, message)).isEmpty();
        }

        for (int i = 0; i < tables.size(); i++) {
            assertThat(drain(outboxes.get(i))).containsExactly(tables.get(i));
            assertThat(drain(outboxes.get(i))).isEmpty();
        }
        assertThat(outboxes.get(0).purge(Duration.ZERO)).isOne();
        assertThat(outboxes.get(1).purge(Duration.ZERO)).isOne();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "outbox; DROP TABLE orders",
                "outbox\" WHERE true --",
                "out box",
                "billing.out-box",
                "bil:ling.outbox",
                "bil--ling.outbox",
                "1outbox",
                "öutbox",
                ".outbox",
                "billing.",
                "",
                " ",
                "outbox\n",
                "x234567890123456789012345678901234567890123456789012345678901234"
            })
    void aNameThatIsNoPlainNameIsRefused(String table) {
        assertThatThrownBy(() -> PostgresOutbox.builder(DATABASE.pool()).table(table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("(?s)(schema must have 1 to 128 characters, no"
                        + " control character, no colon and no two hyphens in a row|table must be letters, digits and underscores, not start with a digit and"
                        + " have at most 63 characters), was \".*\"");
    }

    @Test
    void noNameIsRefused() {
        assertThatThrownBy(() -> PostgresOutbox.builder(DATABASE.pool()).table(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("table must not be null");
    }

    @Test
    void aMissingTableIsSaidAtOnce() {
        assertThatThrownBy(() -> outbox("nowhere.outbox"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"nowhere.outbox\" not found; apply outbox-migrations (postgres) or set table(...)");
        assertThatThrownBy(() -> outbox("Nothing"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"Nothing\" not found; apply outbox-migrations (postgres) or set table(...)");
    }

    @Test
    void aTableThatIsNoOutboxIsToldEveryColumnItLacks() {
        String table = DATABASE.newTable();
        DATABASE.execute("ALTER TABLE " + table + " DROP COLUMN tenant_id");
        DATABASE.execute("ALTER TABLE " + table + " RENAME COLUMN due_on TO due");

        assertThatThrownBy(() -> outbox(table))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public." + table + "\" is not an outbox table: it has no column due_on, tenant_id;"
                        + " apply outbox-migrations (postgres) or set table(...)");
    }

    /** What else may have the name of a table, made from an ordinary one. */
    enum OtherKind {
        PARTITIONED("is partitioned", "CREATE TABLE %2$s (LIKE %1$s) PARTITION BY HASH (message_id)"),
        PARENT(
                "has tables that inherit from it",
                "CREATE TABLE %2$s (LIKE %1$s)",
                "CREATE TABLE %2$s_2 () INHERITS (%2$s)"),
        VIEW("is a view", "CREATE VIEW %2$s AS SELECT * FROM %1$s"),
        MATERIALIZED_VIEW("is a materialized view", "CREATE MATERIALIZED VIEW %2$s AS SELECT * FROM %1$s"),
        FOREIGN(
                "is a foreign table",
                "CREATE FOREIGN DATA WRAPPER %2$s_wrapper",
                "CREATE SERVER %2$s_server FOREIGN DATA WRAPPER %2$s_wrapper",
                "CREATE FOREIGN TABLE %2$s (message_id text) SERVER %2$s_server");

        private final String is;
        private final List<String> statements;

        OtherKind(String is, String... statements) {
            this.is = is;
            this.statements = List.of(statements);
        }

        String madeFrom(String table) {
            String name = table + "_other";
            statements.forEach(statement -> DATABASE.execute(statement.formatted(table, name)));
            return name;
        }

        String refusal(String table) {
            return "table \"public." + table + "\" " + is + ", but an outbox or inbox must be an ordinary table without"
                    + " partitions or children, because rows are found by their ctid; create one with outbox-migrations"
                    + " (postgres), or name another table";
        }
    }

    @ParameterizedTest
    @EnumSource
    void anOutboxMustBeAnOrdinaryTable(OtherKind kind) {
        String table = kind.madeFrom(DATABASE.newTable());

        assertThatThrownBy(() -> outbox(table))
                .isInstanceOf(OutboxException.class)
                .hasMessage(kind.refusal(table));
    }

    @ParameterizedTest
    @EnumSource
    void anInboxMustBeAnOrdinaryTable(OtherKind kind) {
        String table = kind.madeFrom(DATABASE.newInboxTable());

        assertThatThrownBy(() -> PostgresInbox.builder(DATABASE.pool())
                        .table(table)
                        .consumer("billing")
                        .build())
                .isInstanceOf(OutboxException.class)
                .hasMessage(kind.refusal(table));
    }

    @Test
    void aNameWithoutSchemaIsLookedUpWhenTheOutboxIsBuilt() throws SQLException {
        OutboxMigrations.install(DATABASE.pool(), "billing.found_once");
        try (HikariDataSource billing = new HikariDataSource(inSchema("billing"));
                Connection tx = DATABASE.pool().getConnection();
                Statement set = tx.createStatement()) {
            Outbox outbox = PostgresOutbox.builder(billing).table("found_once").build();
            OutboxMigrations.install(DATABASE.pool(), "Shop.found_once");
            tx.setAutoCommit(false);
            set.execute("SET LOCAL search_path TO \"Shop\"");

            outbox.enqueue(tx, Message.to("t").payload("p"));
            tx.commit();
        }

        assertThat(DATABASE.count("billing.found_once", "true")).isOne();
        assertThat(DATABASE.count("\"Shop\".found_once", "true")).isZero();
    }

    private static HikariConfig inSchema(String schema) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(DATABASE.server().dataSource());
        config.setSchema(schema);
        config.setMaximumPoolSize(2);
        return config;
    }
}
