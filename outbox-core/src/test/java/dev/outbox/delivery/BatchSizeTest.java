package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BatchSizeTest {
    private static final Duration QUICK = BatchSize.FAST.minusMillis(1);
    private static final Duration TOO_LONG = BatchSize.SLOW.plusMillis(1);

    private final BatchSize size = new BatchSize(20, 500);
    private long now;

    /** A full batch is claimed, and delivered in this time. */
    private void fullBatch(Duration taking) {
        size.claims(now);
        size.claimed(size.get(), size.get());
        now += taking.toNanos();
    }

    @Test
    void itBeginsWithAHundredWithinItsBounds() {
        assertThat(size.get()).isEqualTo(100);
        assertThat(new BatchSize(1, 7).get()).isEqualTo(7);
        assertThat(new BatchSize(200, 300).get()).isEqualTo(200);
    }

    @Test
    void itDoublesUpToItsBoundWhileFullBatchesGoFast() {
        for (int i = 0; i < 3; i++) {
            fullBatch(QUICK);
        }
        assertThat(size.get()).isEqualTo(400);

        for (int i = 0; i < 3; i++) {
            fullBatch(QUICK);
        }
        assertThat(size.get()).isEqualTo(500);
    }

    @Test
    void itIsHalvedDownToItsBoundWhileBatchesTakeLong() {
        for (int i = 0; i < 10; i++) {
            fullBatch(TOO_LONG);
        }

        assertThat(size.get()).isEqualTo(20);
    }

    @Test
    void itStaysWhereABatchTakesAboutRight() {
        for (int i = 0; i < 10; i++) {
            fullBatch(Duration.ofMillis(500));
        }

        assertThat(size.get()).isEqualTo(100);
    }

    @Test
    void timeWithoutFullBatchesSaysNothing() {
        for (int i = 0; i < 10; i++) {
            size.claims(now);
            size.claimed(size.get() / 2, size.get());
            now += TOO_LONG.toNanos();
        }

        assertThat(size.get()).isEqualTo(100);
    }
}
