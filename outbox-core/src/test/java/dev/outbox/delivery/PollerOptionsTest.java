package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OnDead;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class PollerOptionsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TOO_SHORT = Duration.ofMillis(9);
    private static final Duration TOO_LONG = Duration.ofDays(367);

    @Test
    void theDescriptionNamesEveryOptionThatShapesThePoller() {
        assertThat(options().describe())
                .isEqualTo(
                        "table=NoItems, batchSize=10..20, batchBytes=65536, concurrency=2, executor=own, lease=PT1S, maxDeliveryTime=PT2S, maxAge=PT3S,"
                                + " retry=" + RetryPolicy.standard()
                                + ", onDead=SKIP, idle=PT4S..PT5S, drainTimeout=PT6S,"
                                + " purgeEvery=PT7S, topics=[a]");
    }

    @Test
    void theBuilderRefusesWhatMakesNoSenseByName() {
        PollerBuilder builder = Poller.from(new NoItems());

        assertThatThrownBy(() -> builder.batchSize(0)).hasMessage("batchSize must be between 1 and 5000, was 0");
        assertThatThrownBy(() -> builder.batchSize(20, 10))
                .hasMessage("batchSize max must be between 20 and 5000, was 10");
        assertThatThrownBy(() -> builder.onDead(null)).hasMessage("onDead must not be null");
        assertThatThrownBy(() -> builder.batchSize(5_001)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.batchBytes(65_535))
                .hasMessage("batchBytes must be between 65536 and 1073741824, was 65535");
        assertThatThrownBy(() -> builder.outage(null)).hasMessage("outage must not be null");
        assertThatThrownBy(() -> builder.concurrency(0)).hasMessage("concurrency must be between 1 and 1000, was 0");
        assertThatThrownBy(() -> builder.lease(TOO_SHORT)).hasMessageStartingWith("lease must be between PT0.01S");
        assertThatThrownBy(() -> builder.maxDeliveryTime(TOO_SHORT)).hasMessageStartingWith("maxDeliveryTime must be");
        assertThatThrownBy(() -> builder.maxAge(TOO_LONG)).hasMessageStartingWith("maxAge must be");
        assertThatThrownBy(() -> builder.idle(TOO_SHORT, SECOND)).hasMessageStartingWith("idle min must be");
        assertThatThrownBy(() -> builder.idle(SECOND, TOO_SHORT)).hasMessageStartingWith("idle max must be");
        assertThatThrownBy(() -> builder.drainTimeout(SECOND.negated())).hasMessageStartingWith("drainTimeout must be");
        assertThatThrownBy(() -> builder.purgeEvery(TOO_SHORT)).hasMessageStartingWith("purgeEvery must be");
        assertThatThrownBy(() -> builder.name(" ")).hasMessage("name must not be blank");
        assertThatThrownBy(() -> builder.topics("a", "")).hasMessage("topic must not be blank");
        assertThatThrownBy(() -> builder.executor(null)).hasMessage("executor must not be null");
        assertThatThrownBy(() -> builder.listener(null)).hasMessage("listener must not be null");
        assertThatThrownBy(() -> builder.retry(null)).hasMessage("retry must not be null");
        assertThatThrownBy(() -> builder.ticker(null)).hasMessage("ticker must not be null");
        assertThatThrownBy(() -> builder.to(null)).hasMessage("destination must not be null");
        assertThatThrownBy(() -> builder.toBatch(null)).hasMessage("destination must not be null");
        assertThatThrownBy(() -> Poller.from(null)).hasMessage("source must not be null");
    }

    @Test
    void aPollerHasExactlyOneDestination() {
        assertThatThrownBy(() -> Poller.from(new NoItems()).build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the poller has no destination; call to(...), toBatch(...) or inTransaction(...)");
        assertThatThrownBy(() -> Poller.from(new NoItems()).to(item -> {}).toBatch(items -> List.of()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("exclude each other");
    }

    @Test
    void aPollerHasANameOfItsOwnByDefault() {
        Poller one = Poller.from(new NoItems()).to(item -> {}).build();
        Poller other = Poller.from(new NoItems()).to(item -> {}).build();

        assertThat(one.name()).contains(String.valueOf(ProcessHandle.current().pid()));
        assertThat(one.name()).isNotEqualTo(other.name());
        assertThat(Poller.from(new NoItems())
                        .to(item -> {})
                        .name("mine")
                        .build()
                        .name())
                .isEqualTo("mine");
    }

    static PollerOptions options() {
        return options(new NoItems(), System::nanoTime);
    }

    static PollerOptions options(Source source, LongSupplier ticker) {
        return new PollerOptions(
                "p",
                source,
                10,
                20,
                65_536,
                2,
                null,
                SECOND,
                Duration.ofSeconds(2),
                Duration.ofSeconds(3),
                RetryPolicy.standard(),
                Outages.connectFailures(),
                OnDead.SKIP,
                Duration.ofSeconds(4),
                Duration.ofSeconds(5),
                Duration.ofSeconds(6),
                Duration.ofSeconds(7),
                Set.of("a"),
                List.of(),
                new Emitter(List.of()),
                ticker);
    }

    static class NoItems implements Source {
        @Override
        public Claim claim(ClaimRequest request) {
            return new Claim("token", Instant.EPOCH, List.of(), List.of(), false);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            return Unchanged.NONE;
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            return Unchanged.NONE;
        }

        @Override
        public Optional<Duration> nextDue(Set<String> topics) {
            return Optional.empty();
        }
    }
}
