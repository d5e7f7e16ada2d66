package dev.outbox.cli;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.Outbox;
import dev.outbox.PermanentFailureException;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;

/** A database with outbox, inbox and the tables of the operators, and things that go wrong in it. */
final class Database {
    private final DataSource dataSource;
    private final EmbeddedDatabase database;

    Database(EmbeddedDatabase database) {
        this.database = database;
        this.dataSource = database.dataSource();
    }

    static PostgresExtension extension() {
        return PostgresExtension.migratedBy(dataSource -> {
            OutboxMigrations.install(dataSource);
            OutboxMigrations.installInbox(dataSource);
            OutboxMigrations.installAdmin(dataSource);
        });
    }

    /** The commands, told where the database is. */
    TestCli cli() {
        return new TestCli().with("OUTBOX_URL", database.jdbcUrl()).with("OUTBOX_ACTOR", "anna");
    }

    void enqueue(Message... messages) {
        Outbox outbox = PostgresOutbox.create(dataSource);
        outbox.transaction(dataSource, tx -> outbox.enqueueAll(tx, List.of(messages)));
    }

    static Message message(String topic) {
        return Message.to(topic).payload("{\"card\":\"4111\"}");
    }

    void threeDeadAndABlockedKey() {
        enqueue(
                message("poison.a").tenantId("acme"),
                message("poison.b").correlationId("c-1"),
                message("poison.c").key("order-42"),
                message("orders.paid").key("order-42"),
                message("orders.placed"));
        poll();
    }

    /** Delivers everything that is due; a topic that begins with {@code poison} is given up and blocks its key. */
    void poll() {
        try (Poller poller = PostgresOutbox.create(dataSource)
                .poller()
                .name("p")
                .onDead(OnDead.BLOCK)
                .to(item -> {
                    if (item.topic().startsWith("poison")) {
                        throw new PermanentFailureException("cannot be parsed: " + item.topic());
                    }
                })
                .build()) {
            while (poller.pollOnce() > 0) {}
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    DataSource dataSource() {
        return dataSource;
    }
}
