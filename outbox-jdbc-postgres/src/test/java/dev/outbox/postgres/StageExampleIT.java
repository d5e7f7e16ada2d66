package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Stage;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.Notes.Note;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The code of docs/how-to/stage-messages.md, with a poller that would not look by itself for a minute. */
class StageExampleIT {
    private static final Duration IDLE = Duration.ofMinutes(1);

    private static EmbeddedDatabase database;
    private static DataSource dataSource;
    private static Outbox outbox;
    private static Poller poller;
    private static final BlockingQueue<String> DELIVERED = new LinkedBlockingQueue<>();

    @BeforeAll
    static void start() {
        database = EmbeddedDatabase.create();
        dataSource = database.pool(8);
        OutboxMigrations.install(dataSource);
        outbox = PostgresOutbox.builder(dataSource).serializer(new Notes()).build();
        poller = outbox.poller()
                .to(item -> DELIVERED.add(item.body(Note.class).text()))
                .idle(IDLE, IDLE)
                .start();
    }

    @AfterAll
    static void stop() {
        poller.close();
        database.close();
    }

    private static String nextDelivered() throws InterruptedException {
        return DELIVERED.poll(2, TimeUnit.MINUTES);
    }

    @Test
    void whatAUnitOfWorkStagedIsDeliveredInOrderAfterItsCommit() throws Exception {
        Stage stage = outbox.stage();
        stage.add(Message.to("notes").key("o-1").body(new Note("order placed")));
        stage.add(Message.to("notes").key("o-1").body(new Note("invoice due")));

        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            stage.flush(tx);
            tx.commit();
        }
        stage.committed();

        assertThat(nextDelivered()).isEqualTo("order placed");
        assertThat(nextDelivered()).isEqualTo("invoice due");
    }

    @Test
    void aUnitOfWorkIsRepeatedWithTheSameStage() throws Exception {
        Orders orders = new Orders();
        Stage stage = outbox.stage();
        stage.add(Message.to("notes").body(new Note("order placed once")));

        for (int attempt = 1; ; attempt++) {
            try {
                outbox.transaction(dataSource, tx -> {
                    orders.save(tx);
                    return stage.flush(tx);
                });
                stage.committed();
                break;
            } catch (OutboxException e) {
                if (!e.isRetryable() || attempt == 3) {
                    throw e;
                }
            }
        }

        assertThat(orders.saves).isEqualTo(2);
        assertThat(nextDelivered()).isEqualTo("order placed once");
        assertThat(DELIVERED).isEmpty();
    }

    /** Fails at first. */
    private static final class Orders {
        private int saves;

        void save(Connection tx) {
            if (++saves == 1) {
                throw new OutboxException("a deadlock on " + tx, new SQLException("deadlock", "40P01"), true);
            }
        }
    }
}
