package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.LEASE;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a poller asks of its source besides deliveries: to purge old items, and to note that the poller is alive. */
interface UpkeepContract {
    @Test
    default void aPurgeRemovesWhatIsDoneForLongerThanTheRetentionAndNothingElse(SourceScenario store) {
        Duration retention = store.retention();
        Source source = store.newSource();
        List<String> ids = store.enqueueAll(times(4, message()));
        Claim claim = store.claimSome(source, atMost(3));
        store.settle(source, Settlement.done(new Claims(List.of(claim)).lease(ids.get(0))));
        store.settle(source, Settlement.dead(new Claims(List.of(claim)).lease(ids.get(1)), "no"));
        store.advance(retention.minusMinutes(1));
        store.settle(source, Settlement.done(new Claims(List.of(claim)).lease(ids.get(2))));

        source.purge();
        assertThat(store.find(ids.get(0))).as("before the retention is over").isPresent();
        store.advance(Duration.ofMinutes(2));
        source.purge();

        assertThat(ids.stream().map(id -> store.find(id).isPresent())).containsExactly(false, true, true, true);
    }

    @Test
    default void aPollerIsNotedUntilItSaysThatItStops(SourceScenario store) {
        assertThat(store.pollers()).isEmpty();
        Source source = store.newSource();

        source.heartbeat(heartbeat("one", false));
        source.heartbeat(heartbeat("two", false));
        source.heartbeat(heartbeat("one", false));
        assertThat(store.pollers()).containsExactlyInAnyOrder("one", "two");

        source.heartbeat(heartbeat("one", true));
        assertThat(store.pollers()).containsExactly("two");
    }

    private static Heartbeat heartbeat(String poller, boolean last) {
        return new Heartbeat(poller, "1.0", Duration.ofHours(1), null, LEASE, Duration.ZERO, null, null, last);
    }
}
