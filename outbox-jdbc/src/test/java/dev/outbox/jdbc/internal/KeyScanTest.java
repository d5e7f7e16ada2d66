package dev.outbox.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.KeyScan.Place;
import dev.outbox.jdbc.internal.KeyScan.Seen;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KeyScanTest {
    private static final int COUNT = 100;
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
    private static final Seen NOTHING = new Seen(false, 0, List.of(), false, null, 0, false, "", false);

    private final AtomicLong clock = new AtomicLong();
    private final FreedKeys freed = new FreedKeys();
    private final KeyScan scan = new KeyScan(clock::get, freed);

    @Test
    void placesTakeTurnsInBeingFirstAndFreedKeysComeLast() {
        Set<Place> first = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            free("k" + i, i);
            pass(Duration.ofSeconds(1)); // the round is due
            List<Place> places = scan.look(COUNT).places();
            first.add(places.get(0));
            assertThat(places).hasSize(4).endsWith(Place.FREED);
            scan.end(NOTHING, false, NOW);
        }

        assertThat(first).containsExactlyInAnyOrder(Place.ARRIVED, Place.DUE, Place.ROUND);
    }

    @Test
    void anIdleScanGoesOneStretchOfTheRoundASecondAndIsNotBusy() {
        Seen stretch = new Seen(false, 0, List.of(), false, null, 0, false, "m", false);
        int stretches = 0;
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(100));
            stretches += scan.look(COUNT).places().contains(Place.ROUND) ? 1 : 0;
            assertThat(scan.end(stretch, false, NOW)).isFalse();
        }

        assertThat(stretches).isEqualTo(10);
        assertThat(scan.look(COUNT).roundAfter()).isEqualTo("m");
    }

    @Test
    void aRoundThatFindsOnlyWhatAStrangerHasLockedRests() {
        pass(Duration.ofSeconds(1));
        scan.look(COUNT);

        assertThat(scan.end(new Seen(false, 0, List.of(), false, null, 0, false, "", true), false, NOW))
                .isFalse();
        assertThat(scan.look(COUNT).places()).doesNotContain(Place.ROUND);
    }

    @Test
    void aRoundThatFindsSomethingGoesOnAtOnce() {
        pass(Duration.ofSeconds(1));
        scan.look(COUNT);
        scan.took("k");

        assertThat(scan.end(new Seen(false, 0, List.of(), false, null, 0, false, "m", true), false, NOW))
                .isTrue();
        assertThat(scan.look(COUNT).places()).contains(Place.ROUND);
    }

    @Test
    void aSlowRoundTakesATwentiethOfTheTime() {
        pass(Duration.ofSeconds(1));
        scan.look(COUNT);
        pass(Duration.ofMillis(200));
        scan.end(NOTHING, false, NOW);

        pass(Duration.ofMillis(3_900));
        assertThat(scan.look(COUNT).places()).doesNotContain(Place.ROUND);
        scan.end(NOTHING, false, NOW);
        pass(Duration.ofMillis(100));
        assertThat(scan.look(COUNT).places()).contains(Place.ROUND);
    }

    @Test
    void aBacklogIsWalkedOnceAndThenTheLastMomentAgain() {
        scan.look(COUNT);
        scan.took("k");
        assertThat(scan.end(arrived(true, 1_000), false, NOW)).isTrue();
        assertThat(scan.look(COUNT).arrivedAfter()).containsExactly(Long.MIN_VALUE, 1_000L, Long.MIN_VALUE);
        scan.end(arrived(false, 1_500), false, NOW);

        // a transaction that drew an earlier sequence may commit now
        assertThat(scan.look(COUNT).arrivedAfter().get(1)).isEqualTo(1_000);
        for (int i = 0; i < 2; i++) {
            scan.end(arrived(false, 1_500), false, NOW);
            pass(Duration.ofMillis(500));
            scan.look(COUNT);
        }
        scan.end(arrived(false, 1_500), false, NOW);

        assertThat(scan.look(COUNT).arrivedAfter().get(1)).isEqualTo(1_500);
    }

    @Test
    void theMarkOfDueRowsStaysBehindTheClock() {
        scan.look(COUNT);
        scan.end(due(NOW.minusMillis(500), 7), false, NOW);
        assertThat(scan.look(COUNT).dueAfter()).isEqualTo(NOW.minusMillis(500));
        assertThat(scan.look(COUNT).dueSequence()).isEqualTo(7);
        scan.end(due(NOW.minusMillis(1), 8), false, NOW);

        assertThat(scan.look(COUNT).dueAfter()).isEqualTo(NOW.minusMillis(200));
        assertThat(scan.look(COUNT).dueSequence()).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void aClaimThatWasCutMovesNoMark() {
        pass(Duration.ofSeconds(1));
        scan.look(COUNT);
        boolean more = scan.end(
                new Seen(false, 0, Arrays.asList(null, 5L, null), false, NOW.minusSeconds(5), 5, false, "m", false),
                true,
                NOW);

        assertThat(more).isTrue();
        KeyScan.Look next = scan.look(COUNT);
        assertThat(next.arrivedAfter()).containsOnly(Long.MIN_VALUE);
        assertThat(next.dueAfter()).isEqualTo(Instant.MIN);
    }

    @Test
    void aCutRoundGoesOnAfterTheLastKeyThatWasTaken() {
        Seen stretch = new Seen(false, 0, List.of(), false, null, 0, false, "x", true);
        String first = "";
        for (int i = 0; i < 4; i++) {
            pass(Duration.ofSeconds(1));
            if (scan.look(COUNT).places().get(0) == Place.ROUND) {
                scan.took("b");
                scan.took("c");
                first = "c";
            }
            scan.end(stretch, true, NOW);
        }

        assertThat(first).isEqualTo("c");
        assertThat(scan.look(COUNT).roundAfter()).isEqualTo("c");
    }

    @Test
    void keysThatHaveMuchMakeClaimsTakeFewerOfThem() {
        int before = scan.look(COUNT).heads();
        for (int i = 0; i < 3; i++) {
            take(scan.look(COUNT).heads(), 2);
        }

        assertThat(scan.look(COUNT).heads()).isLessThan(before);
    }

    @Test
    void manyRowsThatCannotBeClaimedArePassedInLongerStretches() {
        int first = scan.look(COUNT).stretch();
        scan.end(arrived(true, 1_000), false, NOW);
        int second = scan.look(COUNT).stretch();
        scan.took("k");
        scan.end(arrived(true, 5_000), false, NOW);

        assertThat(second).isGreaterThan(first);
        assertThat(scan.look(COUNT).stretch()).isEqualTo(first);
    }

    @Test
    void whatIsFreedOrInFlightIsNotLookedForAmongArrivals() {
        free("freed", 1);
        freed.claimed(List.of(item("flying", 2)), Long.MAX_VALUE);

        assertThat(scan.look(COUNT).known()).containsExactlyInAnyOrder("freed", "flying");
    }

    private void take(int keys, int each) {
        for (int i = 0; i < keys * each; i++) {
            scan.took("key-" + i % keys);
        }
        scan.end(new Seen(true, 0, List.of(), false, null, 0, false, "", false), false, NOW);
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private void free(String key, long sequence) {
        freed.claimed(List.of(item(key, sequence)), Long.MAX_VALUE);
        freed.settled(List.of(Settlement.done(new Lease("item-" + sequence, "token"))), Unchanged.NONE);
    }

    private static WorkItem item(String key, long sequence) {
        Message message = Message.to("orders").key(key).payload("{}");
        return new WorkItem("item-" + sequence, sequence, 1, Instant.EPOCH, Instant.EPOCH, null, message);
    }

    private static Seen arrived(boolean more, long to) {
        return new Seen(false, 0, Arrays.asList(null, to, null), more, null, 0, false, "", false);
    }

    private static Seen due(@Nullable Instant to, long sequence) {
        return new Seen(false, 0, List.of(), false, to, sequence, false, "", false);
    }
}
