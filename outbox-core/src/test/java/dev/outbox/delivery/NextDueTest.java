package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NextDueTest {
    private static final boolean ALL_TOPICS = true;

    private final AtomicLong time = new AtomicLong();
    private final Delayed source = new Delayed();
    private final NextDue nextDue = new NextDue(PollerOptionsTest.options(source, time::get));

    /** Has one item that is not due yet, and counts how often it is asked for it. */
    private static final class Delayed extends PollerOptionsTest.NoItems {
        private @Nullable Duration left;
        private int asked;
        private boolean fails;

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            asked++;
            if (fails) {
                throw new OutboxException("away");
            }
            return Optional.ofNullable(left);
        }
    }

    private Duration until() {
        return Duration.ofNanos(nextDue.until(ALL_TOPICS));
    }

    private void pass(Duration length) {
        time.addAndGet(length.toNanos());
    }

    @Test
    void theSourceIsAskedOnceInTenPollsAndRemembered() {
        source.left = Duration.ofMinutes(1);

        for (int i = 0; i < 10; i++) {
            assertThat(until()).isEqualTo(Duration.ofSeconds(60 - i));
            pass(Duration.ofSeconds(1));
        }
        assertThat(source.asked).isEqualTo(1);

        until();
        assertThat(source.asked).isEqualTo(2);
    }

    @Test
    void theSourceIsAskedAgainWhenTheItemIsDue() {
        source.left = Duration.ofSeconds(2);
        until();
        pass(Duration.ofSeconds(2));
        source.left = null;

        assertThat(nextDue.until(ALL_TOPICS)).isEqualTo(Long.MAX_VALUE);
        assertThat(source.asked).isEqualTo(2);
    }

    @Test
    void afterAnEnqueueItIsAskedAgainBecauseTheIdlePauseIsLong() {
        until();
        source.left = Duration.ofSeconds(3);

        nextDue.enqueued();

        assertThat(until()).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void theNearestOwnRetryCounts() {
        assertThat(nextDue.dueIn(Duration.ofSeconds(9))).isTrue();
        assertThat(nextDue.dueIn(Duration.ofSeconds(20))).isFalse();
        assertThat(nextDue.dueIn(Duration.ofSeconds(4))).isTrue();
        assertThat(until()).isEqualTo(Duration.ofSeconds(4));

        pass(Duration.ofSeconds(4));
        assertThat(until()).isEqualTo(Duration.ZERO);

        int before = source.asked;
        until();
        assertThat(source.asked).as("only the nearest was remembered").isEqualTo(before + 1);
    }

    @Test
    void whileTopicsAreLeftOutTheSourceIsNotAsked() {
        source.left = Duration.ofSeconds(1);
        nextDue.dueIn(Duration.ofSeconds(5));

        assertThat(nextDue.until(!ALL_TOPICS)).isEqualTo(Duration.ofSeconds(5).toNanos());
        assertThat(source.asked).isZero();
    }

    @Test
    void aSourceThatFailsKnowsNothing() {
        source.left = Duration.ofSeconds(1);
        source.fails = true;

        assertThat(nextDue.until(ALL_TOPICS)).isEqualTo(Long.MAX_VALUE);
    }
}
