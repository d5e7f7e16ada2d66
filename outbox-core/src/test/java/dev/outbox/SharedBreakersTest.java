package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SharedBreakersTest {
    private final SharedBreakers shared = new SharedBreakers();

    private record Broker(String address) implements Destination {
        @Override
        public void deliver(WorkItem item) {}
    }

    private Breaker of(Destination destination, BreakerPolicy policy, Duration maxDeliveryTime) {
        return shared.of(destination, policy, maxDeliveryTime);
    }

    private Breaker of(Destination destination) {
        return of(destination, BreakerPolicy.standard(), Duration.ofMinutes(5));
    }

    @Test
    void theSameOrAnEqualDestinationHasOneBreaker() {
        Destination broker = new Broker("one");

        assertThat(of(broker)).isSameAs(of(broker)).isSameAs(of(new Broker("one")));
    }

    @Test
    void anotherDestinationOrOtherOptionsHaveAnother() {
        Destination broker = new Broker("one");
        Breaker breaker = of(broker);

        assertThat(of(new Broker("two"))).isNotSameAs(breaker);
        assertThat(of(broker, BreakerPolicy.standard().failures(1), Duration.ofMinutes(5)))
                .isNotSameAs(breaker);
        assertThat(of(broker, BreakerPolicy.standard(), Duration.ofMinutes(1))).isNotSameAs(breaker);
        assertThat(new SharedBreakers().of(broker, BreakerPolicy.standard(), Duration.ofMinutes(5)))
                .isNotSameAs(breaker);
    }
}
