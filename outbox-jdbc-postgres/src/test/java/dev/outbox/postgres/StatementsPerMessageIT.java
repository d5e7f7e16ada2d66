package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What single messages cost the database, one after the other, where each commit wakes the poller. */
@Timeout(120)
class StatementsPerMessageIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final int MESSAGES = 200;

    /** Until then a new poller does not rely on wake-ups. */
    private static final Duration WARM_UP = Duration.ofMillis(1_200);

    private final AtomicInteger statements = new AtomicInteger();

    @ParameterizedTest
    @CsvSource({"false, 6", "true, 8"})
    void aMessageCostsFewStatements(boolean keyed, int most) throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = PostgresOutbox.builder(DATABASE.pool()).table(table).build();
        Semaphore done = new Semaphore(0);
        try (Poller poller = PostgresOutbox.builder(counting(DATABASE.pool()))
                .table(table)
                .build()
                .poller()
                .to(item -> {})
                .listener(event -> {
                    if (event instanceof OutboxEvent.Done) {
                        done.release();
                    }
                })
                .start()) {
            long warm = System.nanoTime() + WARM_UP.toNanos();
            int sent = 0;
            while (System.nanoTime() - warm < 0) {
                deliver(outbox, poller, keyed ? "k" + sent++ : null, done);
            }
            statements.set(0);
            for (int i = 0; i < MESSAGES; i++) {
                deliver(outbox, poller, keyed ? "k" + sent++ : null, done);
            }
        }

        assertThat((double) statements.get() / MESSAGES).isLessThanOrEqualTo(most);
    }

    private static void deliver(Outbox outbox, Poller poller, String key, Semaphore done) throws Exception {
        Message message = Message.to("orders").payload("{}");
        DATABASE.commit(outbox, key == null ? message : message.key(key));
        poller.wakeUp();
        assertThat(done.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
    }

    private DataSource counting(DataSource pool) {
        return (DataSource) proxy(DataSource.class, pool);
    }

    private Object proxy(Class<?> type, Object target) {
        return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
            Object result;
            try {
                result = method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            if (method.getName().equals("prepareStatement")) {
                return countedStatement((PreparedStatement) result, ((String) arguments[0]).split(";").length);
            }
            return result instanceof Connection && !(target instanceof Statement)
                    ? proxy(Connection.class, result)
                    : result;
        });
    }

    private PreparedStatement countedStatement(PreparedStatement statement, int parts) {
        return (PreparedStatement) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {PreparedStatement.class}, (self, method, arguments) -> {
                    if (method.getName().startsWith("execute")) {
                        statements.addAndGet(parts);
                    }
                    try {
                        return method.invoke(statement, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
