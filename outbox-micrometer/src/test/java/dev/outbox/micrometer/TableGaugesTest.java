package dev.outbox.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TableGaugesTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();

    private double gauge(String name) {
        return registry.get(name).tag("table", "outbox").gauge().value();
    }

    private void later(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private void bind() {
        TableGauges.bind(
                registry,
                "outbox",
                () -> {
                    int times = asked.incrementAndGet();
                    if (times == 2) {
                        throw new OutboxException("no connection");
                    }
                    return new TableReading(7 * times, 2, 3, Duration.ofMillis(1_500));
                },
                now::get);
    }

    @Test
    void theTableIsReadOnceForAllGaugesAndNotAgainBeforeTheIntervalIsOver() {
        bind();

        assertThat(gauge("outbox.backlog")).isEqualTo(7);
        assertThat(gauge("outbox.in.flight")).isEqualTo(2);
        assertThat(gauge("outbox.dead.items")).isEqualTo(3);
        assertThat(gauge("outbox.oldest.age")).isEqualTo(1.5);
        later(TableGauges.REFRESH_INTERVAL.minusNanos(1));
        assertThat(gauge("outbox.backlog")).isEqualTo(7);
        assertThat(asked).hasValue(1);
    }

    @Test
    void aTableThatCannotBeReadIsNoNumberAndIsAskedAgainLater() {
        bind();
        assertThat(gauge("outbox.backlog")).isEqualTo(7);

        later(TableGauges.REFRESH_INTERVAL);
        assertThat(gauge("outbox.backlog")).isNaN();
        assertThat(gauge("outbox.in.flight")).isNaN();
        assertThat(asked).hasValue(2);

        later(TableGauges.REFRESH_INTERVAL);
        assertThat(gauge("outbox.backlog")).isEqualTo(21);
    }

    @Test
    void nobodyIsAskedBeforeSomebodyLooks() {
        bind();

        assertThat(asked).hasValue(0);
    }
}
