package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InMemoryStoreTest {
    private final InMemoryStore store = new InMemoryStore(new ManualClock());
    private final Source source = store.source();

    @Test
    void aSkippedItemThatIsRequeuedGoesToTheEndOfItsKey() {
        List<String> ids = store.add(message("k"), message("k"), message("k"));
        Claim head = claim(1);
        source.settle(List.of(Settlement.dead(head.lease(head.items().get(0)), "poison")));

        assertThat(store.requeue(ids.get(0))).isTrue();

        assertThat(claim(10).items()).extracting(WorkItem::id).containsExactly(ids.get(1), ids.get(2), ids.get(0));
        assertThat(store.items()).extracting(ItemState::id).containsExactly(ids.get(1), ids.get(2), ids.get(0));
    }

    @Test
    void anItemThatBlocksItsKeyKeepsItsPlace() {
        List<String> ids = store.add(message("k"), message("k"));
        Claim head = claim(1);
        source.settle(List.of(Settlement.dead(head.lease(head.items().get(0)), "poison", OnDead.BLOCK)));

        assertThat(store.requeue(ids.get(0))).isTrue();

        assertThat(claim(10).items()).extracting(WorkItem::id).containsExactlyElementsOf(ids);
    }

    private Claim claim(int count) {
        return source.claim(new ClaimRequest(count, Duration.ofMinutes(1), 5, Set.of(), "node-1"));
    }

    private static Message message(String key) {
        return Message.to("orders").key(key).payload("x");
    }
}
