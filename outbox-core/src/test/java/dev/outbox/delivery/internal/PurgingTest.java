package dev.outbox.delivery.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class PurgingTest {
    private long now;
    private final List<Duration> rests = new ArrayList<>();
    private final Purging purging = new Purging(() -> now, length -> rests.add(length));

    private int batch(int size, Duration took) {
        now += took.toNanos();
        return size;
    }

    @Test
    void restsAfterEachBatchNineTimesAsLongAsItTook() {
        Deque<Integer> sizes = new ArrayDeque<>(List.of(1_000, 500, 99));

        assertThat(purging.run(() -> batch(sizes.remove(), Duration.ofMillis(10 * sizes.size()))))
                .isEqualTo(1_599);

        assertThat(rests).containsExactly(Duration.ofMillis(180), Duration.ofMillis(90));
    }

    @Test
    void aBatchThatIsNotWorthAnotherIsTheLastAndIsFollowedByNoRest() {
        assertThat(purging.run(() -> batch(0, Duration.ofSeconds(1)))).isZero();

        assertThat(rests).isEmpty();
    }

    @Test
    void noRestIsLongerThanTenSeconds() {
        Deque<Integer> sizes = new ArrayDeque<>(List.of(1_000, 0));

        purging.run(() -> batch(sizes.remove(), Duration.ofHours(1)));

        assertThat(rests)
                .singleElement()
                .satisfies(rest -> assertThat(rest).isBetween(Duration.ofMillis(9_999), Duration.ofSeconds(10)));
    }

    @Test
    void endsWhenThePauseSaysSo() {
        assertThat(new Purging(() -> now, length -> false).run(() -> 1_000)).isEqualTo(1_000);
    }

    @Test
    void byHandItEndsAfterTheBatchUnderWayWhenItsThreadIsInterrupted() {
        long removed = Purging.byHand().run(() -> {
            Thread.currentThread().interrupt();
            return 1_000;
        });

        assertThat(removed).isEqualTo(1_000);
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    }
}
