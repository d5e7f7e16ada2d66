package dev.outbox.benchmarks;

import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.function.Consumer;

/** Shared by the contenders that use db-scheduler. */
final class DbScheduler {
    static final String NAME = "db-scheduler";

    /** Its table, with the indexes a scheduler without priorities needs. */
    private static final String TABLE = """
            CREATE TABLE scheduled_tasks (
                task_name            text        NOT NULL,
                task_instance        text        NOT NULL,
                task_data            bytea,
                execution_time       timestamptz,
                picked               boolean     NOT NULL,
                picked_by            text,
                last_success         timestamptz,
                last_failure         timestamptz,
                consecutive_failures integer,
                last_heartbeat       timestamptz,
                version              bigint      NOT NULL,
                priority             smallint,
                state                text,
                PRIMARY KEY (task_name, task_instance)
            );
            CREATE INDEX scheduled_tasks_execution_time ON scheduled_tasks (execution_time);
            CREATE INDEX scheduled_tasks_last_heartbeat ON scheduled_tasks (last_heartbeat);
            """;

    /** Payloads as plain text instead of serialised Java objects. */
    static final Serializer TEXT = new Serializer() {
        @Override
        public byte[] serialize(Object data) {
            return ((String) data).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public <T> T deserialize(Class<T> type, byte[] data) {
            return type.cast(new String(data, StandardCharsets.UTF_8));
        }
    };

    private DbScheduler() {}

    static String version() {
        return "db-scheduler " + Versions.of("com.github.kagkarlsson", "db-scheduler");
    }

    static void install(Database database) throws SQLException {
        database.execute(TABLE);
    }

    static OneTimeTask<String> task(Consumer<String> handler) {
        return Tasks.oneTime("bench", String.class).execute((instance, context) -> handler.accept(instance.getData()));
    }

    static TaskInstance<String> instance(OneTimeTask<String> task, int number) {
        return task.instance("m" + number, Payload.of(number));
    }

    static long unfinished(Database database) throws SQLException {
        return database.count("SELECT count(*) FROM scheduled_tasks");
    }
}
