package dev.outbox.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** What every child does: it listens to its stdin, ends with the harness, and connects with short timeouts. */
final class ChildProcess {
    private static final int POOL_SIZE = 8;

    private ChildProcess() {}

    /** Each line of stdin goes here; the JVM ends on the spot when stdin does. */
    static void listen(Consumer<String> commands) {
        Thread listener = new Thread(
                () -> {
                    try (BufferedReader in =
                            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                        String line;
                        while ((line = in.readLine()) != null) {
                            commands.accept(line);
                        }
                    } catch (IOException e) {
                        System.err.println("stdin is gone: " + e);
                    }
                    Runtime.getRuntime().halt(1);
                },
                "stdin");
        listener.setDaemon(true);
        listener.start();
    }

    /** Where the network or the pool itself is at fault, nobody waits for long. */
    static HikariDataSource pool(ChildSettings settings) {
        boolean impatient = settings.has(Fault.POOL_EXHAUSTION)
                || settings.faults().stream().anyMatch(Fault::isOfTheNetwork);
        HikariConfig config = new HikariConfig();
        // PgBouncer may be an old one, which does not know prepared statements
        config.setJdbcUrl(
                settings.jdbcUrl() + "&tcpKeepAlive=true&connectTimeout=10&socketTimeout=" + (impatient ? 5 : 60)
                        + (settings.has(Fault.PGBOUNCER) ? "&prepareThreshold=0" : FaultProxy.option(settings.name())));
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(impatient ? 1_000 : 15_000);
        config.setInitializationFailTimeout(-1);
        // else a pool whose first connection breaks while it asks for the default never makes another one
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return new HikariDataSource(config);
    }

    /** The clock that the library sees is wrong by so much from now on; zero, and it is right again. */
    static void jump(History history, Duration skew) {
        SkewedClock.skew(skew);
        if (!skew.isZero()) {
            history.write("injected", Fault.CLOCK_JUMP);
        }
    }

    /** Takes every connection of the pool and keeps it for a while. */
    @SuppressWarnings("try") // to have it is all
    static void exhaust(HikariDataSource pool, long millis) {
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < POOL_SIZE; i++) {
            Thread thief = new Thread(
                    () -> {
                        try (var connection = pool.getConnection()) {
                            end.await(millis, TimeUnit.MILLISECONDS);
                        } catch (Exception e) {
                            // others were faster
                        }
                    },
                    "thief");
            thief.setDaemon(true);
            thief.start();
        }
    }

    /** Until it works: the database may be down while a child starts. */
    static <T> T untilItWorks(Callable<T> call) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            try {
                return call.call();
            } catch (Exception e) {
                System.err.println("not yet: " + e);
                never.await(50, TimeUnit.MILLISECONDS);
            }
        }
    }
}
