package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.evolution.LockWaits.Span;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockWaitsTest {
    @Test
    void onlyStallsDuringAWaitAreTakenOffIt() {
        Span wait = new Span(100, 200);

        assertThat(wait.without(List.of(new Span(0, 90), new Span(210, 900)))).isEqualTo(Duration.ofNanos(100));
        assertThat(wait.without(List.of(new Span(50, 110), new Span(120, 130), new Span(195, 300))))
                .isEqualTo(Duration.ofNanos(75));
    }
}
