package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.LEASE;
import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Settles inside a transaction, of sources that have transactions. */
interface TransactionalSettleContract {
    @Test
    default void aSettleInATransactionCountsWhenThatCommits(SourceScenario store) throws SQLException {
        TransactionalSource source = store.newTransactionalSource();
        List<String> ids = store.enqueueAll(times(4, message()));
        Claims claims = store.claimAll(source);

        try (TransactionalSource.Transaction tx = source.begin()) {
            assertThat(source.settle(
                            tx.connection(),
                            List.of(
                                    Settlement.done(claims.lease(ids.get(0))),
                                    Settlement.dead(claims.lease(ids.get(1)), "no"),
                                    Settlement.retry(claims.lease(ids.get(2)), Duration.ofHours(1), "later"))))
                    .isEmpty();
            store.assertStatus(Status.PROCESSING, ids);
            tx.commit();
        }

        store.assertDone(ids.subList(0, 1));
        store.assertStatus(Status.DEAD, ids.subList(1, 2));
        store.assertStatus(Status.READY, ids.subList(2, 3));
        store.assertStatus(Status.PROCESSING, ids.subList(3, 4));
    }

    @Test
    default void aSettleInATransactionThatRollsBackChangesNothing(SourceScenario store) throws SQLException {
        TransactionalSource source = store.newTransactionalSource();
        String id = store.enqueue(message());
        Lease lease = store.claimAll(source).lease(id);

        try (TransactionalSource.Transaction tx = source.begin()) {
            assertThat(source.settle(tx.connection(), List.of(Settlement.done(lease))))
                    .isEmpty();
        }

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
        assertThat(source.renew(List.of(lease), LEASE).lost())
                .as("the lease is lost")
                .isEmpty();
        store.settle(source, Settlement.done(lease));
    }

    @Test
    default void aSettleInATransactionIsFencedLikeAnyOther(SourceScenario store) throws SQLException {
        TransactionalSource source = store.newTransactionalSource();
        List<String> ids = store.enqueueAll(times(2, message()));
        Lease lost = store.claimAll(source).lease(ids.get(0));
        store.advance(PAST_LEASE);
        Lease held = store.claimAll(store.newSource()).lease(ids.get(1));

        try (TransactionalSource.Transaction tx = source.begin()) {
            assertThat(source.settle(tx.connection(), List.of(Settlement.done(lost), Settlement.done(held))))
                    .containsExactly(lost);
            tx.commit();
        }

        store.assertStatus(Status.PROCESSING, ids.subList(0, 1));
        store.assertDone(ids.subList(1, 2));
    }
}
