package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads of the largest size, in a process that has not the memory for a batch of them. */
class HugePayloadIT {
    private static final int SMALL = 1_000;
    private static final int HUGE = 150;

    private final OutboxDatabase database = new OutboxDatabase();
    private final String table = database.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(database.pool()).table(table).build();

    @AfterEach
    void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"to", "toBatch"})
    void areDeliveredAfterSmallOnesHaveMadeTheBatchesLarge(String form) {
        database.commit(
                outbox,
                IntStream.range(0, SMALL)
                        .mapToObj(i -> Message.to("orders").payload("{}"))
                        .toList());
        String payload = "x".repeat(1 << 20);
        for (int i = 0; i < HUGE; i += 10) {
            database.commit(
                    outbox,
                    IntStream.range(0, 10)
                            .mapToObj(j -> Message.to("orders").payload(payload))
                            .toList());
        }

        try (WorkerProcess worker = WorkerProcess.start(
                SmallHeapMain.class, "-Xmx128m", List.of(database.server().jdbcUrl(), table, form))) {
            await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, (long) SMALL + HUGE)));

            assertThat(worker.log()).doesNotContain("OutOfMemoryError");
        }
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
    }
}
