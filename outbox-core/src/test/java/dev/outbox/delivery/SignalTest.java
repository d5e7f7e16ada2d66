package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SignalTest {
    private static final long AN_HOUR = Duration.ofHours(1).toNanos();

    private final Signal signal = new Signal();

    @Test
    void aRingBeforeTheWaitIsNotLost() {
        signal.ring();

        assertThat(signal.await(AN_HOUR)).isTrue();
    }

    @Test
    void manyRingsWakeOnce() {
        signal.ring();
        signal.ring();
        signal.ring();

        assertThat(signal.await(AN_HOUR)).isTrue();
        assertThat(signal.await(0)).isFalse();
    }

    @Test
    void aRingWakesWhoWaits() throws Exception {
        FutureTask<Boolean> waiting = new FutureTask<>(() -> signal.await(AN_HOUR));
        Thread thread = new Thread(waiting);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);

        signal.ring();

        assertThat(waiting.get()).isTrue();
        assertThat(signal.await(0)).as("the ring is used up").isFalse();
    }

    @Test
    void withoutARingTheWaitEndsByItself() {
        assertThat(signal.await(1_000)).isFalse();
        assertThat(signal.await(0)).isFalse();
        assertThat(signal.await(-1)).isFalse();
    }

    @Test
    void anInterruptWakesToo() throws Exception {
        FutureTask<Boolean> waiting = new FutureTask<>(() -> signal.await(AN_HOUR));
        Thread thread = new Thread(waiting);
        thread.start();

        thread.interrupt();

        assertThat(waiting.get()).isTrue();
    }
}
