package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.internal.claim.FreedKeys.Hint;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class FreedKeysTest {
    private static final long LATER = 1_000;
    private static final long START = FreedKeys.START;
    private static final long SECOND = FreedKeys.BOUND_HOLDS.toNanos();

    private static final Predicate<String> ALL = topic -> true;

    private final FreedKeys keys = new FreedKeys();

    @Test
    void aKeyIsFreedWithTheLastItemOfItsRun() {
        claim(item("k", 7), item("k", 8));

        settle(Settlement.done(lease(7)));
        assertThat(next()).isEmpty();
        settle(Settlement.done(lease(8)));
        assertThat(next()).containsExactly("k");
    }

    @Test
    void aKeyWhoseRunTookEverythingIsNotLookedAtAgain() {
        keys.claimed(List.of(item("k", 1)), key -> false, LATER);
        settle(Settlement.done(lease(1)));

        assertThat(keys.areThere(ALL)).isFalse();
    }

    @Test
    void aKeyOfWhichAClaimHasPassedBySomethingIsLookedAtAgain() {
        keys.claimed(List.of(item("in flight", 1), item("settled", 2)), key -> false, LATER);
        settle(Settlement.done(lease(2)));
        keys.passedBy(List.of("in flight", "settled"));
        assertThat(next()).containsExactly("settled");
        settle(Settlement.done(lease(1)));

        assertThat(next()).containsExactly("settled", "in flight");
    }

    @Test
    void aKeyThatWasInFlightForLongerThanItsLeaseIsLookedAtAgain() {
        keys.claimed(List.of(item("k", 1)), key -> false, LATER);
        assertThat(keys.known(LATER)).isEmpty(); // renewed: its rows are passed by unnoticed now
        settle(Settlement.done(lease(1)));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void aSkippedDeadItemFreesItsKeyAndABlockingOneDoesNot() {
        claim(item("skipped", 1), item("blocked", 2));
        settle(Settlement.dead(lease(1), "broken"), Settlement.dead(lease(2), "broken", OnDead.BLOCK));

        assertThat(next()).containsExactly("skipped");
    }

    @Test
    void anItemThatIsRetriedIsFoundByItsTimeAndNotHere() {
        claim(item("k", 1), item("k", 2));
        settle(Settlement.retry(lease(1), Duration.ofSeconds(1), "refused"), Settlement.release(lease(2), false));

        assertThat(next()).isEmpty();
    }

    @Test
    void aReleasedRunIsFoundAgain() {
        keys.claimed(List.of(item("k", 3), item("k", 4)), key -> false, LATER);
        settle(Settlement.release(lease(3), false), Settlement.release(lease(4), false));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void aKeyWhoseLeaseWasLostIsLookedAtAgain() {
        keys.claimed(List.of(item("k", 1)), key -> false, LATER);
        keys.settled(List.of(Settlement.retry(lease(1), Duration.ZERO, "late")), Unchanged.lost(Set.of(lease(1))));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void whatIsLockedIsStillInFlight() {
        claim(item("k", 1));
        keys.settled(List.of(Settlement.done(lease(1))), new Unchanged(Set.of(), Set.of(lease(1))));
        assertThat(keys.known(0)).containsExactly("k");
        settle(Settlement.done(lease(1)));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void aKeyThatWasLookedAtIsForgotten() {
        freed("k", 1);
        assertThat(keys.areThere(ALL)).isTrue();
        look(0, Set.of());

        assertThat(keys.areThere(ALL)).isFalse();
    }

    @Test
    void aFullClaimSaysNothingAboutKeysItDidNotTake() {
        freed("taken", 1);
        freed("left", 2);
        keys.looked(keys.next(10, ALL, 0), Set.of("taken"), false, 0, 0);

        assertThat(next()).containsExactly("left");
    }

    @Test
    void aClaimForOtherTopicsLeavesAKeyAlone() {
        freed("k", 1);

        assertThat(keys.next(10, "others"::equals, 0)).isEmpty();
        assertThat(keys.areThere("others"::equals)).isFalse();
        assertThat(keys.areThere("orders"::equals)).isTrue();
    }

    @Test
    void aKeyWhoseLeaseCannotBeRenewedIsLookedAtAgain() {
        keys.claimed(List.of(item("k", 1)), key -> false, LATER);
        keys.lost(Set.of(lease(1)));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void aKeyThatHasMoreIsLookedAtWhenItsLeaseHasEnded() {
        claim(item("k", 1));
        keys.known(LATER);

        assertThat(next()).containsExactly("k");
    }

    @Test
    void aFreedKeyThatIsClaimedOtherwiseMayHaveMore() {
        freed("k", 1);
        keys.claimed(List.of(item("k", 2)), key -> false, LATER);
        assertThat(next()).isEmpty();
        settle(Settlement.done(lease(2)));

        assertThat(next()).containsExactly("k");
    }

    @Test
    void keysAreInFlightUntilTheyAreSettledOrTheirLeaseEnds() {
        keys.claimed(List.of(item("settled", 1), item("held", 2)), key -> false, LATER);
        settle(Settlement.done(lease(1)));

        assertThat(keys.known(0)).containsExactly("held");
        assertThat(keys.known(LATER)).isEmpty();
    }

    @Test
    void aKeyWithMuchTrafficIsLookedAtAboveWhatItsRunHasFinished() {
        passMany("k", 0);
        claim(item("k", 1_007), item("k", 1_008));
        settle(Settlement.done(lease(1_007)), Settlement.done(lease(1_008)));

        assertThat(keys.next(10, ALL, 1)).containsExactly(new Hint("k", 1_008));
    }

    @Test
    void aKeyWithLittleTrafficIsLookedAtFromItsStart() {
        freed("k", 1);
        look(0, Set.of("k"));
        freed("k", 2);

        assertThat(keys.next(10, ALL, 1)).containsExactly(new Hint("k", START));
    }

    @Test
    void aKeyIsLookedAtFromItsStartOnceASecond() {
        passMany("k", 0);
        freed("k", 1_001);

        assertThat(keys.next(10, ALL, SECOND - 1)).containsExactly(new Hint("k", 1_001));
        assertThat(keys.next(10, ALL, SECOND)).containsExactly(new Hint("k", START));
    }

    @Test
    void whereThatTakesLongItIsDoneLessOften() {
        passMany("k", SECOND);
        freed("k", 1_001);

        assertThat(keys.next(10, ALL, 20 * SECOND - 1)).containsExactly(new Hint("k", 1_001));
        assertThat(keys.next(10, ALL, 20 * SECOND)).containsExactly(new Hint("k", START));
    }

    @Test
    void theBoundStaysBelowWhatGoesBack() {
        passMany("k", 0);
        claim(item("k", 1_001), item("k", 1_002), item("k", 1_003));
        settle(
                Settlement.done(lease(1_001)),
                Settlement.release(lease(1_002), true),
                Settlement.release(lease(1_003), false));

        assertThat(keys.next(10, ALL, 1)).containsExactly(new Hint("k", 1_001));
    }

    @Test
    void aLostLeaseGivesNoBound() {
        passMany("k", 0);
        claim(item("k", 1_001));
        keys.settled(List.of(Settlement.done(lease(1_001))), Unchanged.lost(Set.of(lease(1_001))));

        assertThat(keys.next(10, ALL, 1)).containsExactly(new Hint("k", START));
    }

    /** So many that its next run may have a bound. */
    private void passMany(String key, long lookTakes) {
        freed(key, 0);
        keys.looked(keys.next(10, ALL, 0), Set.of(key), true, 0, lookTakes);
        for (int i = 1; i <= FreedKeys.MANY; i++) {
            freed(key, i);
        }
        keys.looked(keys.next(10, ALL, 0), Set.of(key), true, 0, lookTakes);
    }

    private void look(long now, Set<String> taken) {
        keys.looked(keys.next(10, ALL, now), taken, true, now, 0);
    }

    @Test
    void memoryIsBounded() {
        for (int i = 0; i < 50_000; i++) {
            freed("k" + i, i);
            claim(item("lost" + i, -i));
        }

        assertThat(keys.next(Integer.MAX_VALUE, ALL, 0)).hasSize(20_000);
        assertThat(keys.known(0)).hasSize(21_000);
    }

    private List<String> next() {
        return keys.next(10, ALL, 0).stream().map(Hint::key).toList();
    }

    private void freed(String key, long sequence) {
        claim(item(key, sequence));
        settle(Settlement.done(lease(sequence)));
    }

    private void claim(WorkItem... items) {
        keys.claimed(List.of(items), key -> true, LATER);
    }

    private void settle(Settlement... settlements) {
        keys.settled(List.of(settlements), Unchanged.NONE);
    }

    private static Lease lease(long sequence) {
        return new Lease("item-" + sequence, "token");
    }

    private static WorkItem item(String key, long sequence) {
        Message message = Message.to("orders").key(key).payload("{}");
        return new WorkItem("item-" + sequence, sequence, 1, Instant.EPOCH, Instant.EPOCH, null, message);
    }
}
