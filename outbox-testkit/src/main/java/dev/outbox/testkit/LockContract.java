package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.LEASE;
import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** An item whose row another transaction has locked delays only itself and its key; no source waits for it. */
interface LockContract {
    @Test
    default void aClaimLeavesLockedItemsAndTakesTheOthers(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, message()));
        Source source = store.newSource();

        Claims claims = store.whileLocked(ids.subList(1, 3), () -> store.claimAll(source));

        assertThat(claims.ids()).containsExactly(ids.get(0), ids.get(3), ids.get(4));
        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    default void aClaimTakesARunUpToItsFirstLockedItem(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"), keyed("a"), keyed("b"), keyed("c"));
        Source source = store.newSource();

        Claims claims = store.whileLocked(List.of(ids.get(1), ids.get(3)), () -> store.claimAll(source));

        assertThat(claims.ids()).containsExactlyInAnyOrder(ids.get(0), ids.get(4));
        store.settleDone(source, claims.leases());
        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).containsExactlyInAnyOrder(ids.get(1), ids.get(2), ids.get(3));
    }

    @Test
    default void expiredLeasesAreFoundBesideALockedItem(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        store.claimAll(store.newSource());
        store.advance(PAST_LEASE);
        Source source = store.newSource();

        Claims claims = store.whileLocked(ids.subList(1, 2), () -> store.claimAll(source));

        assertThat(claims.ids()).containsExactly(ids.get(0), ids.get(2));
        store.advance(PAST_LEASE);
        assertThat(store.claimAll(store.newSource()).ids()).contains(ids.get(1));
    }

    @Test
    default void aRenewalAnswersLockedItemsAndRenewsTheOthers(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        Lease locked = claims.lease(ids.get(1));
        store.advance(LEASE.minusMinutes(2));

        Unchanged unchanged = store.whileLocked(ids.subList(1, 2), () -> source.renew(claims.leases(), LEASE));

        assertThat(unchanged).isEqualTo(new Unchanged(Set.of(), Set.of(locked)));
        store.advance(Duration.ofMinutes(3));
        assertThat(store.claimAll(store.newSource()).ids()).containsExactly(ids.get(1));
    }

    @Test
    default void aLockedItemIsRenewedWhenItsLockIsGone(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(2, message()));
        Source source = store.newSource();
        List<Lease> leases = store.claimAll(source).leases();
        store.whileLocked(ids, () -> source.renew(leases, LEASE));

        assertThat(source.renew(leases, LEASE)).isEqualTo(Unchanged.NONE);
        store.settleDone(source, leases);
    }

    @Test
    default void aLostLeaseIsLostThoughItsItemIsLocked(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.claimAll(source);
        Lease wrong = new Lease(id, UUID.randomUUID().toString());

        assertThat(store.whileLocked(List.of(id), () -> source.renew(List.of(wrong), LEASE)))
                .isEqualTo(Unchanged.lost(Set.of(wrong)));
        assertThat(store.whileLocked(List.of(id), () -> source.settle(List.of(Settlement.done(wrong)))))
                .isEqualTo(Unchanged.lost(Set.of(wrong)));
    }

    @Test
    default void aSettleAnswersLockedItemsAndSettlesTheOthers(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(6, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        List<Settlement> settlements = List.of(
                Settlement.done(claims.lease(ids.get(0))),
                Settlement.done(claims.lease(ids.get(1))),
                Settlement.retry(claims.lease(ids.get(2)), LEASE, "retried"),
                Settlement.retry(claims.lease(ids.get(3)), LEASE, "retried"),
                Settlement.dead(claims.lease(ids.get(4)), "died"),
                Settlement.dead(claims.lease(ids.get(5)), "died"));
        List<String> locked = List.of(ids.get(1), ids.get(3), ids.get(5));

        for (int i = 0; i < 2; i++) { // what was locked before is settled no worse
            Unchanged unchanged = store.whileLocked(locked, () -> source.settle(settlements));
            assertThat(unchanged.locked()).extracting(Lease::itemId).containsExactlyInAnyOrderElementsOf(locked);
            assertThat(unchanged.lost()).hasSize(i == 0 ? 0 : 3);
        }

        store.assertDone(ids.subList(0, 1));
        store.assertStatus(Status.READY, ids.subList(2, 3));
        store.assertStatus(Status.DEAD, ids.subList(4, 5));
        store.assertStatus(Status.PROCESSING, locked);
        store.settle(source, settlements.get(1), settlements.get(3), settlements.get(5));
        store.assertDone(ids.subList(0, 2));
    }

    @Test
    default void aKeyIsSettledUpToItsFirstLockedItem(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"), keyed("a"), keyed("b"));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        List<Settlement> done =
                ids.stream().map(id -> Settlement.done(claims.lease(id))).toList();

        Unchanged unchanged = store.whileLocked(List.of(ids.get(1)), () -> source.settle(done));

        assertThat(unchanged)
                .isEqualTo(new Unchanged(Set.of(), Set.of(claims.lease(ids.get(1)), claims.lease(ids.get(2)))));
        store.assertDone(List.of(ids.get(0), ids.get(3)));
        store.assertStatus(Status.PROCESSING, ids.subList(1, 3));
        store.settle(source, done.subList(1, 3));
        store.assertDone(ids);
    }

    @Test
    default void anItemThatHoldsBackItsKeyGivesNothingBackWhileItIsLocked(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"), keyed("a"));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        List<Settlement> retry = List.of(
                Settlement.retry(claims.lease(ids.get(0)), Duration.ZERO, "broker is down"),
                Settlement.release(claims.lease(ids.get(1)), false));

        Unchanged unchanged = store.whileLocked(List.of(ids.get(0)), () -> source.settle(retry));

        assertThat(unchanged.lost()).isEmpty();
        assertThat(unchanged.locked()).containsExactlyInAnyOrder(claims.lease(ids.get(0)), claims.lease(ids.get(1)));
        store.assertStatus(Status.PROCESSING, ids);
        store.settle(source, retry);
        store.assertStatus(Status.READY, ids);
        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids);
    }

    /** A source locks rows in one order, or does not wait for them. */
    @Test
    default void renewalsAndSettlesOfTheSameItemsDoNotDeadlock(SourceScenario store) throws Exception {
        List<String> ids = store.enqueueAll(times(200, message()));
        Source source = store.newSource();
        List<Lease> leases = store.claimAll(source).leases();
        List<Callable<Void>> calls = new ArrayList<>();
        for (int seed = 0; seed < 3; seed++) {
            List<Lease> shuffled = new ArrayList<>(leases);
            Collections.shuffle(shuffled, new Random(seed));
            calls.add(() -> {
                for (int i = 0; i < 20; i++) {
                    source.renew(shuffled, LEASE);
                }
                return null;
            });
        }
        calls.add(() -> {
            for (int end = leases.size(); end > 0; end -= 20) {
                Collection<Lease> open = new ArrayList<>(leases.subList(end - 20, end));
                Collections.reverse((List<?>) open);
                while (!open.isEmpty()) {
                    Unchanged unchanged =
                            source.settle(open.stream().map(Settlement::done).toList());
                    assertThat(unchanged.lost()).isEmpty();
                    open = unchanged.locked();
                }
            }
            return null;
        });

        ExecutorService threads = Executors.newFixedThreadPool(calls.size());
        try {
            for (Future<Void> call : threads.invokeAll(calls)) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }

        store.assertDone(ids);
    }
}
