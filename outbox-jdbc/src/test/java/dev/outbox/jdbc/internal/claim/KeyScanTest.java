package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.KeyScan.Place;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KeyScanTest {
    private static final int COUNT = 100;
    private static final int BACKLOG = 5_000;
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
    private static final KeysSeen NOTHING = new KeysSeen(false, 0, List.of(), List.of(), null, 0, false, List.of());

    private final AtomicLong clock = new AtomicLong();
    private final FreedKeys freed = new FreedKeys();
    private final KeyScan scan = new KeyScan(clock::get, freed, topic -> true);

    /** What each statement looked at. */
    private final List<KeyLook> looks = new ArrayList<>();

    /** One that takes nothing. */
    private boolean claim(KeysSeen seen) throws SQLException {
        return claim(seen, false);
    }

    private boolean claim(KeysSeen seen, boolean cut, String... taken) throws SQLException {
        return claim(look -> seen, cut, taken).more();
    }

    private ClaimedRows claim(Function<KeyLook, KeysSeen> answer, boolean cut, String... taken) throws SQLException {
        looks.clear();
        return scan.walk(() -> {
            KeyLook look = scan.look(COUNT);
            looks.add(look);
            List<WorkItem> items = new ArrayList<>();
            for (String key : taken) {
                scan.took(key, 1, items.size(), null);
                items.add(item(key, items.size()));
            }
            boolean more = scan.end(answer.apply(look), items, cut, false, NOW, Long.MAX_VALUE);
            return new ClaimedRows("token", NOW, items, List.of(), more);
        });
    }

    private KeyLook last() {
        return looks.get(looks.size() - 1);
    }

    @Test
    void placesTakeTurnsInBeingFirst() throws SQLException {
        Map<Place, Integer> first = new EnumMap<>(Place.class);
        for (int i = 0; i < 12; i++) {
            free("k" + i, i);
            claim(NOTHING);
            first.merge(last().places().get(0), 1, Integer::sum);
            assertThat(last().places()).hasSize(3);
        }

        assertThat(first).isEqualTo(Map.of(Place.ARRIVED, 4, Place.DUE, 4, Place.FREED, 4));
    }

    @Test
    void anIdleScanIsNotBusyAndSweepsOnceASecondInTheSameStatement() throws SQLException {
        claim(arrived(true, 1_000), false, "k");
        int sweeps = 0;
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(100));
            assertThat(claim(arrivedNothing())).isFalse();
            assertThat(looks).hasSize(1);
            sweeps += last().arrivedAfter().get(1) == Long.MIN_VALUE ? 1 : 0;
        }

        assertThat(sweeps).isBetween(9, 11);
    }

    @Test
    void aLongSweepRestsBetweenItsStretchesAndNeverMakesAnIdlePollerBusy() throws SQLException {
        claim(arrived(true, 1_000_000), false, "k");
        int statements = 0;
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(100));
            ClaimedRows claimed = claim(
                    look -> {
                        pass(Duration.ofMillis(5));
                        long after = look.arrivedAfter().get(1);
                        return after >= 900_000 ? arrivedNothing() : arrived(true, Math.max(after, 0) + look.stretch());
                    },
                    false);
            assertThat(claimed.more()).isFalse();
            statements += looks.size();
        }

        assertThat(statements).isBetween(110, 250);
    }

    @Test
    void aSweepThatFailsIsTriedInPiecesAndOtherClaimsGoOn() throws SQLException {
        claim(arrived(true, 1_000_000), false, "k");
        pass(Duration.ofSeconds(1));
        assertThatThrownBy(() -> claim(
                        look -> {
                            pass(Duration.ofSeconds(5));
                            throw new IllegalStateException("statement timeout");
                        },
                        false))
                .hasMessage("statement timeout");

        claim(arrivedNothing());
        assertThat(last().arrivedAfter().get(1)).as("from the marks").isEqualTo(1_000_000);
        pass(Duration.ofSeconds(2));
        claim(arrivedNothing());
        assertThat(looks.get(0).arrivedUpTo().get(1)).as("a piece").isLessThan(1_000_000);
    }

    @Test
    void aSweepThatFindsSomethingIsNotMadeRarer() throws SQLException {
        claim(arrived(true, 1_000_000), false, "k");
        pass(Duration.ofSeconds(1));
        claim(
                look -> {
                    pass(Duration.ofMillis(500));
                    return arrivedNothing();
                },
                false,
                "late");

        pass(Duration.ofSeconds(1));
        claim(arrivedNothing());
        assertThat(looks.get(0).arrivedAfter().get(1)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void aScanForOtherTopicsAndAClaimAfterAFailureBeginAtTheMarks() throws SQLException {
        claim(arrived(false, 1_000), false);
        KeyScan other = new KeyScan(clock::get, freed, topic -> true);
        other.startFrom(scan);
        other.walk(() -> {
            assertThat(other.look(COUNT).arrivedAfter().get(1)).isEqualTo(1_000);
            other.end(arrivedNothing(), List.of(), false, false, NOW, Long.MAX_VALUE);
            return ClaimedRows.nothing();
        });

        assertThatThrownBy(() -> claim(
                        look -> {
                            throw new IllegalStateException("statement timeout");
                        },
                        false))
                .hasMessage("statement timeout");
        claim(arrivedNothing());
        assertThat(last().arrivedAfter().get(1)).isEqualTo(1_000);
    }

    @Test
    void aStretchOfASweepMovesOnlyItsCursor() throws SQLException {
        claim(arrived(true, 1_000_000), false, "k");
        pass(Duration.ofSeconds(1));
        claim(look -> looks.size() == 1 ? arrived(true, 1_000) : arrivedNothing(), false);

        assertThat(looks.get(1).arrivedAfter().get(1)).isEqualTo(1_000);
    }

    @Test
    void headsThatAStrangerHasLockedAreNotLookedAtAgainAndAgain() throws SQLException {
        assertThat(claim(new KeysSeen(true, COUNT, at(500L), more(false), null, 0, false, List.of()), false))
                .isTrue();
        assertThat(looks).hasSize(1);

        claim(arrivedNothing());
        assertThat(last().arrivedAfter().get(1)).isEqualTo(500);
    }

    @Test
    void aBacklogIsWalkedOnceAndThenTheLastMomentAgain() throws SQLException {
        assertThat(claim(arrived(true, 1_000), false, "k")).isTrue();
        claim(arrived(false, 1_500), false);
        assertThat(looks.get(0).arrivedAfter()).containsExactly(Long.MIN_VALUE, 1_000L, Long.MIN_VALUE);

        // a transaction that drew an earlier sequence may commit now
        claim(arrivedNothing());
        assertThat(last().arrivedAfter().get(1)).isEqualTo(1_000);
        for (int i = 0; i < 2; i++) {
            pass(Duration.ofMillis(499));
            claim(arrivedNothing());
            pass(Duration.ofMillis(1));
            claim(arrivedNothing());
        }
        pass(Duration.ofMillis(1));
        claim(arrivedNothing());

        assertThat(last().arrivedAfter().get(1)).isEqualTo(1_500);
    }

    @Test
    void theMarkOfDueRowsStaysBehindTheClock() throws SQLException {
        claim(due(NOW.minusMillis(500), 7));
        claim(arrivedNothing());
        assertThat(last().dueAfter()).isEqualTo(NOW.minusMillis(500));
        assertThat(last().dueSequence()).isEqualTo(7);
        claim(due(NOW.minusMillis(1), 8));
        claim(arrivedNothing());

        assertThat(last().dueAfter()).isEqualTo(NOW.minusMillis(200));
        assertThat(last().dueSequence()).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void aClaimThatWasCutBeforeItsLastKeyMovesNoMarkAndTheNextOneFindsFewerKeys() throws SQLException {
        KeysSeen seen = new KeysSeen(false, 2, at(5L), more(false), NOW.minusSeconds(5), 5, false, List.of());

        assertThat(claim(seen, true, "k")).isTrue();
        claim(arrivedNothing());
        assertThat(looks.get(0).arrivedAfter()).containsOnly(Long.MIN_VALUE);
        assertThat(looks.get(0).dueAfter()).isEqualTo(Instant.MIN);
        assertThat(looks.get(0).heads()).isOne();
        claim(arrivedNothing());
        assertThat(last().heads()).isEqualTo(2);
    }

    @Test
    void aClaimThatWasCutWithinItsLastRunHasSeenItsKeys() throws SQLException {
        claim(new KeysSeen(false, 1, at(5L), more(false), null, 0, false, List.of()), true, "k");
        claim(arrivedNothing());

        assertThat(looks.get(0).arrivedAfter().get(1)).isEqualTo(5);
    }

    @Test
    void noPriorityAlwaysComesFirst() throws SQLException {
        Map<Integer, Integer> first = new HashMap<>();
        for (int i = 0; i < 20; i++) {
            claim(NOTHING);
            first.merge(last().firstBand(), 1, Integer::sum);
        }

        assertThat(first).containsOnlyKeys(0, 1, 2);
        assertThat(first.get(0)).isGreaterThan(10);
    }

    @Test
    void keysThatHaveMuchMakeClaimsTakeFewerOfThem() throws SQLException {
        claim(NOTHING);
        int before = last().heads();
        for (int i = 0; i < 3; i++) {
            String[] twice = IntStream.range(0, last().heads() * 2)
                    .mapToObj(row -> "key-" + row / 2)
                    .toArray(String[]::new);
            claim(new KeysSeen(true, COUNT, List.of(), List.of(), null, 0, false, List.of()), false, twice);
        }

        assertThat(last().heads()).isLessThan(before);
    }

    @Test
    void manyRowsThatCannotBeClaimedArePassedInLongerStretches() throws SQLException {
        claim(look -> arrived(looks.size() < 3, 1_000L * looks.size()), false);
        List<Integer> stretches = looks.stream().map(KeyLook::stretch).toList();
        claim(arrived(true, BACKLOG), false, "k");
        claim(arrivedNothing());

        assertThat(stretches).first().isEqualTo(1_000);
        assertThat(last().stretch()).isEqualTo(1_000);
    }

    @Test
    void whatIsFreedOrInFlightIsNotLookedForAmongArrivals() throws SQLException {
        free("freed", 1);
        freed.claimed(List.of(item("flying", 2)), key -> false, Long.MAX_VALUE);
        claim(NOTHING);

        assertThat(last().known()).containsExactlyInAnyOrder("freed", "flying");
    }

    @Test
    void aKeyThatWasPassedByWhileItWasInFlightIsLookedAtOnceItIsFree() throws SQLException {
        claim(arrived(false, 1), false, "k");
        claim(new KeysSeen(false, 0, at(2L), more(false), null, 0, false, List.of("k")));
        freed.settled(List.of(Settlement.done(new Lease("item-0", "token"))), Unchanged.NONE);
        claim(NOTHING);

        assertThat(last().freed()).extracting(FreedKeys.Hint::key).containsExactly("k");
    }

    @Test
    void aKeyThatHasNothingMoreIsNotLookedAtOnceItIsFree() throws SQLException {
        claim(arrived(false, 1), false, "k", "k2");
        freed.settled(List.of(Settlement.done(new Lease("item-0", "token"))), Unchanged.NONE);

        assertThat(claim(arrivedNothing())).isFalse();
        assertThat(last().freed()).isEmpty();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private void free(String key, long sequence) {
        freed.claimed(List.of(item(key, sequence)), k -> true, Long.MAX_VALUE);
        freed.settled(List.of(Settlement.done(new Lease("item-" + sequence, "token"))), Unchanged.NONE);
    }

    private static WorkItem item(String key, long sequence) {
        Message message = Message.to("orders").key(key).payload("{}");
        return new WorkItem("item-" + sequence, sequence, 1, Instant.EPOCH, Instant.EPOCH, null, message);
    }

    private static List<@Nullable Long> at(@Nullable Long to) {
        return Arrays.asList(null, to, null);
    }

    private static List<@Nullable Boolean> more(boolean more) {
        return Arrays.asList(null, more, null);
    }

    private static KeysSeen arrived(boolean more, long to) {
        return new KeysSeen(false, 0, at(to), more(more), null, 0, false, List.of());
    }

    private static KeysSeen arrivedNothing() {
        return new KeysSeen(false, 0, at(null), more(false), null, 0, false, List.of());
    }

    private static KeysSeen due(Instant to, long sequence) {
        return new KeysSeen(false, 0, at(null), more(false), to, sequence, false, List.of());
    }
}
