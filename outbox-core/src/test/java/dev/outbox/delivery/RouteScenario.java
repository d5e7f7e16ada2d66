package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A route on a clock that moves only when a test moves it. */
abstract class RouteScenario {
    static final Duration LONG_CALL = Duration.ofMinutes(5);

    final AtomicLong time = new AtomicLong();
    final LongSupplier ticker = time::get;
    final Route route = Route.of(new Object(), new Object(), ticker);

    static WorkItem item(String id, int attempt) {
        return new WorkItem(id, 1, attempt, Instant.EPOCH, Message.to("t").payload(""));
    }

    void pass(Duration length) {
        time.addAndGet(length.toNanos());
    }

    Route.Standing fail(String id) {
        return route.failed(item(id, 1), false, false, time.get(), time.get());
    }

    Route.Standing outage(String id) {
        return route.failed(item(id, 1), true, false, time.get(), time.get());
    }

    Route.Permit permit() {
        return route.permit(time.get(), LONG_CALL);
    }

    boolean mayCall() {
        return permit() != null;
    }

    void slowDown() {
        for (int i = 0; i < Route.ENOUGH; i++) {
            outage("slow-" + i);
        }
        assertThat(route.isSlow()).isTrue();
    }
}
