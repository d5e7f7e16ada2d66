package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What must be true of a store after all that happened to it so far. The model does not predict what a claim takes; it
 * judges whether the claim was allowed to take it. It leaves open only when a source notices that a lease ran out: until
 * then such an item may be Processing or Ready.
 */
final class SourceModel {
    private final int maxAttempts;
    private final Map<String, Item> items = new LinkedHashMap<>();
    private final Set<String> tokens = new HashSet<>();
    private final Map<String, Long> lastFirstDelivery = new HashMap<>();
    private final Map<String, Long> lastDone = new HashMap<>();
    private Duration now = Duration.ZERO;

    SourceModel(int maxAttempts) {
        this.maxAttempts = maxAttempts;
    }

    private static final class Item {
        final String id;
        final long order;
        final @Nullable String key;
        Status status = Status.READY;
        int attempts;
        boolean delivered;
        Duration due;
        String token = "";
        Duration lockedUntil = Duration.ZERO;

        /** How long after it was stored it was first due, as its first claim said. */
        @Nullable
        Duration wait;

        Item(String id, long order, @Nullable String key, Duration due) {
            this.id = id;
            this.order = order;
            this.key = key;
            this.due = due;
        }

        boolean isFinished() {
            return status == Status.DONE || status == Status.DEAD;
        }

        void ready() {
            status = Status.READY;
            token = "";
        }

        @Override
        public String toString() {
            return id + "(" + order + ", key " + key + ", " + status + ", attempts " + attempts + ")";
        }
    }

    void advance(Duration step) {
        now = now.plus(step);
    }

    void enqueued(List<String> ids, List<Message> messages) {
        for (int i = 0; i < ids.size(); i++) {
            Message message = messages.get(i);
            Duration delay = message.dueIn();
            Duration due = delay == null ? now : now.plus(delay);
            items.put(ids.get(i), new Item(ids.get(i), items.size(), message.key(), due));
        }
    }

    void claimed(Claim claim, ClaimRequest request) {
        claim.dead().forEach(this::foundDead);
        assertThat(claim.items()).as("items of a claim").hasSizeLessThanOrEqualTo(request.count());
        assertThat(claim.items())
                .as("items of a claim")
                .extracting(WorkItem::sequence)
                .isSorted();
        assertThat(tokens.add(claim.ownerToken())).as("a fresh owner token").isTrue();
        Map<String, List<Item>> runs = new LinkedHashMap<>();
        for (WorkItem claimed : claim.items()) {
            Item item = item(claimed.id());
            assertThat(item.isFinished()).as("%s was claimed again", item).isFalse();
            assertThat(isLeased(item)).as("%s has two owners", item).isFalse();
            assertThat(item.due).as("%s was claimed before it was due", item).isLessThanOrEqualTo(now);
            assertThat(claimed.attempt()).as("attempt of %s", item).isEqualTo(item.attempts + 1);
            assertThat(claimed.attempt()).as("attempt of %s", item).isLessThanOrEqualTo(maxAttempts);
            Duration wait = Duration.between(claimed.createdOn(), claimed.firstDueOn());
            assertThat(wait).as("when %s was first due", item).isEqualTo(item.wait == null ? wait : item.wait);
            item.wait = wait;
            if (item.key != null) {
                runs.computeIfAbsent(item.key, key -> new ArrayList<>()).add(item);
            }
        }
        runs.forEach(this::assertRunFromHead);
        for (WorkItem claimed : claim.items()) {
            Item item = item(claimed.id());
            item.status = Status.PROCESSING;
            item.attempts++;
            item.token = claim.ownerToken();
            item.lockedUntil = now.plus(request.lease());
        }
    }

    private void foundDead(WorkItem dead) {
        Item item = item(dead.id());
        assertThat(item.status == Status.PROCESSING && !isLeased(item) && item.attempts >= maxAttempts)
                .as("%s was reported dead, but its lease had not run out on its last attempt", item)
                .isTrue();
        item.status = Status.DEAD;
    }

    private void assertRunFromHead(String key, List<Item> run) {
        List<Item> unfinished = items.values().stream()
                .filter(item -> key.equals(item.key) && !item.isFinished())
                .toList();
        assertThat(unfinished)
                .as("%s was claimed while an item of it was leased", key)
                .noneMatch(this::isLeased);
        assertThat(run).as("%s was not claimed from its head on", key).isEqualTo(unfinished.subList(0, run.size()));
    }

    /** Notes that all of these settlements were accepted. */
    void settled(List<Settlement> settlements) {
        for (Settlement settlement : settlements) {
            Item item = item(settlement.lease().itemId());
            assertThat(item.token)
                    .as("the owner of %s, which accepted a settle", item)
                    .isEqualTo(settlement.lease().ownerToken());
            if (settlement.kind() != Settlement.Kind.RELEASE) {
                delivered(item, settlement.kind() == Settlement.Kind.DONE);
            }
            item.attempts -= settlement.attemptsGivenBack();
            switch (settlement.kind()) {
                case DONE -> item.status = Status.DONE;
                case DEAD -> item.status = Status.DEAD;
                case RETRY -> {
                    item.ready();
                    item.due = now.plus(settlement.delay());
                }
                case RELEASE -> item.ready();
            }
            if (item.status == Status.READY && item.key != null) {
                giveBackLaterItems(item, settlement.lease().ownerToken());
            }
        }
    }

    private void giveBackLaterItems(Item first, String token) {
        for (Item item : items.values()) {
            if (first.key != null
                    && first.key.equals(item.key)
                    && item.order > first.order
                    && item.token.equals(token)
                    && item.status == Status.PROCESSING) {
                item.ready();
                item.attempts--;
            }
        }
    }

    private void delivered(Item item, boolean done) {
        String key = item.key;
        if (key == null) {
            return;
        }
        if (!item.delivered) {
            item.delivered = true;
            Long last = lastFirstDelivery.put(key, item.order);
            assertThat(last == null || last < item.order)
                    .as("first delivery of %s after %s of its key", item, last)
                    .isTrue();
        }
        if (done) {
            Long last = lastDone.put(key, item.order);
            assertThat(last == null || last < item.order)
                    .as("%s is done after %s of its key", item, last)
                    .isTrue();
        }
    }

    void renewed(List<Lease> leases, Duration length) {
        leases.forEach(lease -> item(lease.itemId()).lockedUntil = now.plus(length));
    }

    boolean isExpired(Lease lease) {
        Item item = item(lease.itemId());
        return item.token.equals(lease.ownerToken()) && !isLeased(item);
    }

    /** Whether no source may accept the lease any more, no matter what it has noticed. */
    boolean mustBeFenced(Lease lease) {
        Item item = item(lease.itemId());
        return item.isFinished() || !item.token.equals(lease.ownerToken());
    }

    boolean hasUnfinished() {
        return items.values().stream().anyMatch(item -> !item.isFinished());
    }

    void assertSameAs(SourceScenario store) {
        for (Item item : items.values()) {
            if (item.status == Status.DONE) {
                store.assertDone(List.of(item.id));
            } else if (item.status != Status.PROCESSING || isLeased(item)) {
                ItemState state = store.state(item.id);
                assertThat(state.status()).as("status of %s", item).isEqualTo(item.status);
                assertThat(state.attempts()).as("attempts of %s", item).isEqualTo(item.attempts);
            }
        }
    }

    private boolean isLeased(Item item) {
        return item.status == Status.PROCESSING && item.lockedUntil.compareTo(now) > 0;
    }

    private Item item(String id) {
        Item item = items.get(id);
        if (item == null) {
            throw new AssertionError("item " + id + " was claimed but never enqueued");
        }
        return item;
    }

    @Override
    public String toString() {
        return items.values().stream()
                .filter(item -> !item.isFinished())
                .toList()
                .toString();
    }
}
