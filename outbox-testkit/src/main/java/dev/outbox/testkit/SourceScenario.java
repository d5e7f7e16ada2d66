package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** The steps that the tests of {@link SourceContract} share. Created anew for each test. */
public final class SourceScenario {
    /** The lease of the claims of a scenario; much longer than a test takes. */
    public static final Duration LEASE = Duration.ofMinutes(10);

    /** Long enough for every lease of {@link #LEASE} to have run out. */
    public static final Duration PAST_LEASE = LEASE.plusSeconds(1);

    /** The longest that a source may put off an item whose lease ran out. */
    public static final Duration MOST_PUT_OFF = Duration.ofMinutes(5);

    /** The attempts that a claim allows. */
    public static final int MAX_ATTEMPTS = 3;

    /** The topic of messages whose topic does not matter. */
    public static final String TOPIC = "orders.placed";

    /** Rows that came back behind a source's mark are looked for again within this time. */
    private static final Duration SWEEP = Duration.ofSeconds(2);

    /** How often a source may answer "nothing, but there may be more" while it goes through its keys. */
    private static final int MAX_FRUITLESS_CLAIMS = 1_000;

    /** A call that takes longer is assumed to wait for a lock; even a busy machine does not need this long. */
    private static final Duration LONGEST_WITHOUT_WAITING = Duration.ofSeconds(30);

    private final SourceFixture fixture;

    SourceScenario(SourceFixture fixture) {
        this.fixture = fixture;
    }

    /** A message without a key. */
    public static Message message() {
        return Message.to(TOPIC).payload("{}");
    }

    /** A message of this key. */
    public static Message keyed(String key) {
        return message().key(key);
    }

    /** This message, repeated this many times. */
    public static List<Message> times(int count, Message message) {
        return IntStream.range(0, count).mapToObj(i -> message).toList();
    }

    /** A claim of at most this many items of any topic. */
    public static ClaimRequest atMost(int count) {
        return new ClaimRequest(count, LEASE, MAX_ATTEMPTS, Set.of(), "contract");
    }

    /** A claim of at most this many items of these topics. */
    public static ClaimRequest atMost(int count, String... topics) {
        return new ClaimRequest(count, LEASE, MAX_ATTEMPTS, Set.of(topics), "contract");
    }

    /** Whether the store can do this. */
    public boolean has(Feature feature) {
        return !fixture.lacks().contains(feature);
    }

    /** Skips the test, by name, if the store cannot do this. */
    public void assumeHas(Feature feature) {
        assumeTrue(has(feature), () -> "the store lacks " + feature);
    }

    /** How long Done items stay; skips the test if the store is not purged. */
    public Duration retention() {
        Optional<Duration> retention = fixture.retention();
        assumeTrue(retention.isPresent(), "the store is not purged");
        return retention.orElseThrow();
    }

    /** The names of the pollers that the store lists as alive; skips the test if it never lists any. */
    public Set<String> pollers() {
        Optional<Set<String>> pollers = unchecked(fixture::pollers);
        assumeTrue(pollers.isPresent(), "the store lists no pollers");
        return pollers.orElseThrow();
    }

    /** A new source with transactions; skips the test if the store has none. */
    public TransactionalSource newTransactionalSource() {
        Source source = newSource();
        assumeTrue(source instanceof TransactionalSource, "the source has no transactions");
        return (TransactionalSource) source;
    }

    /** This message with this key, where the store has keys. */
    public Message keyedIfPossible(String key, Message message) {
        return has(Feature.KEYS) ? message.key(key) : message;
    }

    /** The source of another node. */
    public Source newSource() {
        return unchecked(fixture::newSource);
    }

    /** Stores one message. Returns the id of its work item. */
    public String enqueue(Message message) {
        return enqueueAll(List.of(message)).get(0);
    }

    /** Stores these messages in this order. Returns the ids of their work items. */
    public List<String> enqueueAll(Message... messages) {
        return enqueueAll(List.of(messages));
    }

    /** Stores these messages in this order. Returns the ids of their work items. */
    public List<String> enqueueAll(List<Message> messages) {
        for (Feature feature : fixture.lacks()) {
            if (messages.stream().anyMatch(feature::isNeededBy)) {
                assumeHas(feature);
            }
        }
        List<String> ids = unchecked(() -> fixture.enqueue(messages));
        assertThat(ids).as("the fixture's answer to enqueue").hasSameSizeAs(messages);
        return ids;
    }

    /**
     * Runs the action while another transaction holds locks on the rows of these items. Skips the test if the store has
     * no locks.
     *
     * @throws AssertionError if the action waits for the locks
     */
    public <T> T whileLocked(List<String> itemIds, Callable<T> action) {
        Optional<AutoCloseable> lock = unchecked(() -> fixture.lock(itemIds));
        assumeTrue(lock.isPresent(), "the store has no row locks");
        FutureTask<T> task = new FutureTask<>(action);
        return unchecked(() -> {
            try {
                new Thread(task, "while-locked").start();
                return task.get(LONGEST_WITHOUT_WAITING.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw new AssertionError("it waits for a locked row", e);
            } finally {
                lock.get().close();
            }
        });
    }

    /** Lets time pass. */
    public void advance(Duration step) {
        unchecked(() -> {
            fixture.advance(step);
            return step;
        });
    }

    /** Lets enough time pass for every source to look again at the rows it has skipped. */
    public void aMomentLater() {
        advance(SWEEP);
    }

    /** Requeues a Dead item, as an operator would. */
    public void requeue(String itemId) {
        unchecked(() -> {
            fixture.requeue(itemId);
            return itemId;
        });
    }

    /** The current state of an item; empty if the store does not have it. */
    public Optional<ItemState> find(String itemId) {
        return unchecked(() -> fixture.find(itemId));
    }

    /**
     * The current state of an item.
     *
     * @throws AssertionError if the store does not have it
     */
    public ItemState state(String itemId) {
        return find(itemId).orElseThrow(() -> new AssertionError("item " + itemId + " is gone from the store"));
    }

    /** Asserts the status of these items. */
    public void assertStatus(Status status, Iterable<String> itemIds) {
        assertThat(itemIds).allSatisfy(id -> assertThat(state(id).status()).isEqualTo(status));
    }

    /** Asserts that these items are Done, or gone where the store deletes what is done. */
    public void assertDone(Iterable<String> itemIds) {
        if (fixture.keepsDone()) {
            assertStatus(Status.DONE, itemIds);
        } else {
            assertThat(itemIds).allSatisfy(id -> assertThat(find(id)).isEmpty());
        }
    }

    /** The first claim that leases something; an empty one if there is nothing to lease. */
    public Claim claimSome(Source source, ClaimRequest request) {
        List<Claim> claims = claim(source, request, true);
        return claims.get(claims.size() - 1);
    }

    /** Everything that can be leased now: claims until the source says that there is no more. */
    public Claims claimAll(Source source) {
        return claimAll(source, atMost(100));
    }

    /** Everything that can be leased now: claims until the source says that there is no more. */
    public Claims claimAll(Source source, ClaimRequest request) {
        return new Claims(claim(source, request, false));
    }

    /**
     * Lets leases run out and claims what comes back. A source may put off an item whose lease ran out more than once,
     * so this method waits for that too.
     */
    public Claims claimExpired(Source source, ClaimRequest request) {
        advance(PAST_LEASE);
        Claims claims = claimAll(source, request);
        if (claims.ids().isEmpty() && claims.dead().isEmpty()) {
            advance(MOST_PUT_OFF);
            claims = claimAll(source, request);
        }
        return claims;
    }

    private static List<Claim> claim(Source source, ClaimRequest request, boolean some) {
        List<Claim> claims = new ArrayList<>();
        int fruitless = 0;
        Claim claim;
        do {
            claim = source.claim(request);
            claims.add(claim);
            fruitless = claim.items().isEmpty() ? fruitless + 1 : 0;
            assertThat(fruitless)
                    .as("claims in a row that leased nothing and said that there may be more")
                    .isLessThan(MAX_FRUITLESS_CLAIMS);
        } while (claim.more() && !(some && fruitless == 0));
        return claims;
    }

    /** Settles and asserts that nothing was fenced. */
    public void settle(Source source, Settlement... settlements) {
        settle(source, List.of(settlements));
    }

    /** Settles and asserts that nothing was fenced. */
    public void settle(Source source, List<Settlement> settlements) {
        assertThat(source.settle(settlements)).as("not settled").isEqualTo(Unchanged.NONE);
    }

    /** Settles these as done and asserts that nothing was fenced. */
    public void settleDone(Source source, List<Lease> leases) {
        settle(source, leases.stream().map(Settlement::done).toList());
    }

    /** Settles all items of a claim as done and asserts that nothing was fenced. */
    public void settleDone(Source source, Claim claim) {
        settleDone(source, claim.items().stream().map(claim::lease).toList());
    }

    private static <T> T unchecked(Callable<T> call) {
        try {
            return call.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the fixture failed: " + e, e);
        }
    }
}
