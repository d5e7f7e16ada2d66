package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Random producers, pollers and crashes against one store, each step checked by a {@link SourceModel}.
 *
 * <p>Time passes in steps of ten minutes, while leases and delays are odd multiples of five. So nothing ever
 * ends within five minutes of a check, and the seconds that a real database takes cannot change the outcome.
 *
 * <p>A worker here behaves as a poller does: it settles the items of a key in their order, drops the rest of
 * a run when an item of it went back to Ready, and lets go of a claim whose lease ran out. Besides, old
 * leases are used on purpose wherever the model is certain that they must be fenced.
 */
final class RandomOperations {
    private static final Duration TICK = Duration.ofMinutes(10);
    private static final Duration LEASE = Duration.ofMinutes(15);
    private static final int MAX_ATTEMPTS = 4;
    private static final int SOURCES = 3;
    private static final int KEYS = 5;
    private static final int MAX_DRAIN_ROUNDS = 50;

    private final SourceScenario store;
    private final long seed;
    private final Random random;
    private final SourceModel model;
    private final List<Source> sources = new ArrayList<>();
    private final List<HeldClaim> held = new ArrayList<>();
    private final List<Lease> old = new ArrayList<>();

    RandomOperations(SourceScenario store, long seed) {
        this.store = store;
        this.seed = seed;
        this.random = new Random(seed);
        this.model = new SourceModel(MAX_ATTEMPTS);
    }

    /** A claim that a worker still works on, with the items that are left of it, in order. */
    private record HeldClaim(String token, List<WorkItem> left) {}

    void run(int steps) {
        int step = 0;
        try {
            for (int i = 0; i < SOURCES; i++) {
                sources.add(store.newSource());
            }
            for (; step < steps; step++) {
                step();
                if (step % 50 == 0) {
                    model.assertSameAs(store);
                }
            }
            drain();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(
                    "step " + step + " of the random history with seed " + seed + " (repeat it with -Doutbox.test.seed="
                            + seed + "): " + e.getMessage(),
                    e);
        }
    }

    private void step() {
        int dice = random.nextInt(100);
        if (dice < 22) {
            enqueue();
        } else if (dice < 48) {
            claim();
        } else if (dice < 70) {
            settle();
        } else if (dice < 80) {
            renew();
        } else if (dice < 86) {
            useOldLeases();
        } else if (dice < 87) {
            sources.set(random.nextInt(SOURCES), store.newSource());
        } else {
            advance(TICK.multipliedBy(1 + random.nextInt(2)));
        }
    }

    private void enqueue() {
        List<Message> messages = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            Message message = SourceScenario.message();
            if (random.nextInt(3) > 0) {
                message = store.keyedIfPossible("key-" + random.nextInt(KEYS), message);
            }
            if (random.nextInt(10) == 0) {
                message = message.dueIn(randomDelay());
            }
            messages.add(message);
        }
        model.enqueued(store.enqueueAll(messages), messages);
    }

    private void claim() {
        ClaimRequest request = boundedAtRandom(request(1 + random.nextInt(8)));
        Claim claim = randomSource().claim(request);
        model.claimed(claim, request);
        if (!claim.items().isEmpty() && random.nextInt(12) > 0) {
            held.add(new HeldClaim(claim.ownerToken(), new ArrayList<>(claim.items())));
        }
    }

    private void settle() {
        HeldClaim claim = randomHeld();
        if (claim == null) {
            return;
        }
        List<Settlement> settlements = new ArrayList<>();
        Set<String> stoppedKeys = new HashSet<>();
        int count = 1 + random.nextInt(claim.left().size());
        for (WorkItem item : List.copyOf(claim.left()).subList(0, count)) {
            if (item.key() != null && stoppedKeys.contains(item.key())) {
                continue;
            }
            Lease lease = new Lease(item.id(), claim.token());
            Settlement settlement = randomSettlement(lease, item.attempt());
            settlements.add(settlement);
            boolean ready = settlement.kind() == Settlement.Kind.RETRY || settlement.kind() == Settlement.Kind.RELEASE;
            if (ready && item.key() != null) {
                stoppedKeys.add(item.key());
            }
            claim.left().remove(item);
            old.add(lease);
        }
        for (WorkItem item : List.copyOf(claim.left())) {
            if (item.key() != null && stoppedKeys.contains(item.key())) {
                claim.left().remove(item);
                old.add(new Lease(item.id(), claim.token()));
            }
        }
        held.removeIf(other -> other.left().isEmpty());
        assertThat(randomSource().settle(settlements).lost())
                .as("fenced of leases that are held")
                .isEmpty();
        model.settled(settlements);
    }

    private Settlement randomSettlement(Lease lease, int attempt) {
        boolean last = attempt >= MAX_ATTEMPTS;
        int dice = random.nextInt(10);
        if (dice < 5) {
            return Settlement.done(lease);
        } else if (dice < 7) {
            return last ? Settlement.dead(lease, "used up") : Settlement.retry(lease, randomDelay(), "failed");
        } else if (dice == 7) {
            return Settlement.retry(lease, randomDelay(), "asked to wait", 1);
        } else if (dice == 8) {
            return Settlement.release(lease, !last && random.nextBoolean());
        }
        return Settlement.dead(lease, "poison");
    }

    private void renew() {
        held.stream().filter(claim -> random.nextBoolean()).forEach(this::renew);
    }

    private void renew(HeldClaim claim) {
        List<Lease> leases = claim.left().stream()
                .map(item -> new Lease(item.id(), claim.token()))
                .toList();
        assertThat(randomSource().renew(leases, LEASE).lost())
                .as("lost of leases that are held")
                .isEmpty();
        model.renewed(leases, LEASE);
    }

    /** An old lease changes nothing if its item is settled or has been leased to another worker since. */
    private void useOldLeases() {
        List<Lease> fenced = old.stream().filter(model::mustBeFenced).toList();
        if (fenced.isEmpty()) {
            return;
        }
        Lease lease = fenced.get(random.nextInt(fenced.size()));
        assertThat(randomSource()
                        .settle(List.of(randomSettlement(lease, MAX_ATTEMPTS)))
                        .lost())
                .as("fenced of an old lease")
                .containsExactly(lease);
        assertThat(randomSource().renew(List.of(lease), LEASE).lost())
                .as("lost of an old lease")
                .containsExactly(lease);
    }

    private void advance(Duration step) {
        store.advance(step);
        model.advance(step);
        held.removeIf(claim -> {
            boolean expired =
                    claim.left().stream().anyMatch(item -> model.isExpired(new Lease(item.id(), claim.token())));
            if (expired) {
                claim.left().forEach(item -> old.add(new Lease(item.id(), claim.token())));
            }
            return expired;
        });
    }

    /** Nothing is produced any more and nothing fails, so every item must be finished. */
    private void drain() {
        for (int round = 0; model.hasUnfinished() && round < MAX_DRAIN_ROUNDS; round++) {
            advance(TICK.multipliedBy(4));
            Source source = randomSource();
            Claim claim;
            do {
                ClaimRequest request = boundedAtRandom(request(10));
                claim = source.claim(request);
                model.claimed(claim, request);
                List<Settlement> settlements = new ArrayList<>();
                for (WorkItem item : claim.items()) {
                    settlements.add(Settlement.done(claim.lease(item)));
                }
                assertThat(source.settle(settlements).lost())
                        .as("fenced while draining")
                        .isEmpty();
                model.settled(settlements);
            } while (claim.more());
        }
        assertThat(model.hasUnfinished())
                .as("items left after draining: %s", model)
                .isFalse();
        model.assertSameAs(store);
    }

    private Source randomSource() {
        return sources.get(random.nextInt(SOURCES));
    }

    private @Nullable HeldClaim randomHeld() {
        return held.isEmpty() ? null : held.get(random.nextInt(held.size()));
    }

    /** 5, 15 or 25 minutes: never a multiple of a tick. */
    private Duration randomDelay() {
        return Duration.ofMinutes(5 + 10L * random.nextInt(3));
    }

    /** Every other claim ends after a few of the payloads, which are all alike. */
    private ClaimRequest boundedAtRandom(ClaimRequest request) {
        return random.nextBoolean() ? request : request.maxBytes(1 + random.nextInt(12));
    }

    private static ClaimRequest request(int count) {
        return new ClaimRequest(count, LEASE, MAX_ATTEMPTS, Set.of(), "random");
    }
}
