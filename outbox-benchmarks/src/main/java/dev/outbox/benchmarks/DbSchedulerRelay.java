package dev.outbox.benchmarks;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** db-scheduler with lock-and-fetch, its fastest way to poll. */
final class DbSchedulerRelay implements Relay {
    private static final int MESSAGES = 30_000;
    private static final int THREADS = 20;
    private static final double LOWER_LIMIT = 4.0;
    private static final double UPPER_LIMIT = 20.0;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int STORED_AT_ONCE = 1_000;

    @Override
    public String name() {
        return DbScheduler.NAME;
    }

    @Override
    public String settings() {
        return DbScheduler.version() + ", lock-and-fetch " + LOWER_LIMIT + "/" + UPPER_LIMIT + ", " + THREADS
                + " threads, polling interval " + POLL.toMillis() + " ms";
    }

    @Override
    public Backlog fitting(Backlog backlog) {
        if (!backlog.isPlain()) {
            throw new IllegalArgumentException(name() + " takes plain messages only, was " + backlog);
        }
        return Backlog.of(Math.min(MESSAGES, backlog.messages()));
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        DbScheduler.install(database);
        OneTimeTask<String> task = DbScheduler.task(payload -> {});
        SchedulerClient client = SchedulerClient.Builder.create(database.pool(1), task)
                .serializer(DbScheduler.TEXT)
                .build();
        Instant now = Instant.now();
        List<TaskInstance<?>> instances = new ArrayList<>();
        for (int number = 0; number < backlog.messages(); number++) {
            instances.add(DbScheduler.instance(task, number));
            if (instances.size() == STORED_AT_ONCE || number == backlog.messages() - 1) {
                client.scheduleBatch(instances, now);
                instances.clear();
            }
        }
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        Scheduler scheduler = Scheduler.create(pool, DbScheduler.task(deliveries::arrive))
                .serializer(DbScheduler.TEXT)
                .threads(THREADS)
                .pollUsingLockAndFetch(LOWER_LIMIT, UPPER_LIMIT)
                .pollingInterval(POLL)
                .build();
        scheduler.start();
        return scheduler::stop;
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return DbScheduler.unfinished(database);
    }
}
