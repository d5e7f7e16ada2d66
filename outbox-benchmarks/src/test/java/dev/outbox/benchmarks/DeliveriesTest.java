package dev.outbox.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DeliveriesTest {
    @Test
    void eachMessageOnceAndEachKeyInItsOrderIsRight() {
        Deliveries deliveries = new Deliveries(Backlog.keyed(40, 2));

        arrive(deliveries, 1, 0, 3, 2);
        for (int number = 4; number < 40; number++) {
            arrive(deliveries, number);
        }

        assertThat(deliveries.areComplete()).isTrue();
        assertThatCode(deliveries::check).doesNotThrowAnyException();
    }

    @Test
    void aMissingMessageIsFound() {
        Deliveries deliveries = new Deliveries(Backlog.of(3));

        arrive(deliveries, 0, 2);

        assertThat(deliveries.areComplete()).isFalse();
        assertThatThrownBy(deliveries::check)
                .isInstanceOf(WrongResultException.class)
                .hasMessage("1 messages are missing, 0 came twice, 0 came before an earlier one of their key");
    }

    @Test
    void aDoubledMessageIsFoundAndDoesNotStandForAnother() {
        Deliveries deliveries = new Deliveries(Backlog.of(2));

        arrive(deliveries, 0, 0);
        assertThat(deliveries.areComplete()).isFalse();
        arrive(deliveries, 1);

        assertThatThrownBy(deliveries::check).hasMessageContaining("1 came twice");
    }

    @Test
    void aMessageThatOvertookAnEarlierOneOfItsKeyIsFound() {
        Deliveries deliveries = new Deliveries(Backlog.keyed(4, 2));

        arrive(deliveries, 2, 1, 0, 3);

        assertThatThrownBy(deliveries::check).hasMessageContaining("1 came before an earlier one of their key");
    }

    @Test
    void aMessageThatMustBeHeldBackAndCameIsFound() {
        Deliveries deliveries = new Deliveries(Backlog.of(3));

        arrive(deliveries, 0, 2);

        assertThatCode(() -> deliveries.check(1)).doesNotThrowAnyException();
        assertThatThrownBy(() -> deliveries.check(2)).isInstanceOf(WrongResultException.class);
    }

    private static void arrive(Deliveries deliveries, int... numbers) {
        for (int number : numbers) {
            deliveries.arrive(Payload.of(number));
        }
    }
}
