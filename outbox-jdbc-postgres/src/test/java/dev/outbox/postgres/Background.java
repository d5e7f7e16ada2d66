package dev.outbox.postgres;

import static org.awaitility.Awaitility.await;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What other sessions do meanwhile, and whether the database makes them wait. */
final class Background implements AutoCloseable {
    private final OutboxDatabase database;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    Background(OutboxDatabase database) {
        this.database = database;
    }

    <T> Future<T> run(Callable<T> work) {
        return threads.submit(work);
    }

    /** Until exactly so many sessions of this database wait for a lock of this type (advisory, transactionid). */
    void awaitWaiting(String lockType, int sessions) {
        await().until(() -> waiting(lockType) == sessions);
    }

    long waiting(String lockType) {
        return Long.parseLong(database.query(
                        "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                                + " WHERE NOT l.granted AND l.locktype = ? AND a.datname = current_database()",
                        lockType)
                .get(0));
    }

    /** Its answer; its failure is thrown as it is. */
    static <T> T result(Future<T> work) throws Exception {
        try {
            return work.get(2, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } catch (TimeoutException e) {
            throw new AssertionError("still not done after 20 s", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
