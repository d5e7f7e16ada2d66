package dev.outbox.benchmarks;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** db-scheduler, on a DataSource that gives it the connection of the transaction. */
final class DbSchedulerWriter implements Writer {
    @Override
    public String name() {
        return DbScheduler.NAME;
    }

    @Override
    public String settings() {
        return DbScheduler.version() + ", scheduleIfNotExists(...) of one, scheduleBatch(...) of several";
    }

    @Override
    public void install(Database database) throws SQLException {
        DbScheduler.install(database);
    }

    @Override
    public Session open(DataSource pool) throws SQLException {
        OneTimeTask<String> task = DbScheduler.task(payload -> {});
        CurrentConnection current = new CurrentConnection();
        SchedulerClient client;
        try (Connection connection = pool.getConnection()) {
            current.set(connection); // the client looks at the database first
            client = SchedulerClient.Builder.create(current.dataSource(), task)
                    .serializer(DbScheduler.TEXT)
                    .build();
        }
        return (first, messages) -> {
            try (Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                Orders.insert(tx, first);
                current.set(tx);
                schedule(client, task, first, messages);
                tx.commit();
            }
        };
    }

    private static void schedule(SchedulerClient client, OneTimeTask<String> task, int first, int messages) {
        Instant now = Instant.now();
        if (messages == 1) {
            client.scheduleIfNotExists(DbScheduler.instance(task, first), now);
            return;
        }
        List<TaskInstance<?>> instances = new ArrayList<>(messages);
        for (int number = first; number < first + messages; number++) {
            instances.add(DbScheduler.instance(task, number));
        }
        client.scheduleBatch(instances, now);
    }

    @Override
    public long stored(Database database) throws SQLException {
        return DbScheduler.unfinished(database);
    }
}
