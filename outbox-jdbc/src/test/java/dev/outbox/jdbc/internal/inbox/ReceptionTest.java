package dev.outbox.jdbc.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.ConflictException;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How arrivals are sorted into rounds and answered, whatever the database. */
class ReceptionTest {
    private static final MessageRow.Rules RULES = new MessageRow.Rules(null, 1_000, 1_000);
    private static final Instant THEN = Instant.parse("2026-01-01T00:00:00Z");

    private final List<OutboxEvent> events = new ArrayList<>();

    private Reception reception(OnConflict onConflict) {
        return new Reception("billing", onConflict, RULES, new Emitter(List.of(events::add)));
    }

    private static Incoming item(String id) {
        return Incoming.from("shop", id).topic("orders.placed").payload("{}");
    }

    private static Known isNew() {
        return new Known(false, 1, THEN, THEN);
    }

    private static Known known(int receipts) {
        return new Known(false, receipts, THEN, THEN);
    }

    private static Known conflict() {
        return new Known(true, 1, THEN, THEN);
    }

    private static Identity identity(String id) {
        return new Identity("shop", id);
    }

    @Test
    void aRoundHasEachMessageOnceInTheOrderOfTheCall() {
        List<Arrival> arrivals =
                reception(OnConflict.THROW).arrivals(List.of(item("a"), item("b"), item("a"), item("c"), item("a")));

        assertThat(Reception.rounds(arrivals))
                .containsExactly(
                        List.of(arrivals.get(0), arrivals.get(1), arrivals.get(3)),
                        List.of(arrivals.get(2)),
                        List.of(arrivals.get(4)));
    }

    @Test
    void arrivalsAreAnsweredInTheOrderOfTheCallThoughTheyCameInRounds() {
        Reception reception = reception(OnConflict.THROW);
        List<Arrival> arrivals = reception.arrivals(List.of(item("a"), item("a"), item("b")));
        Map<Arrival, Receipt> receipts = new HashMap<>();
        receipts.putAll(Reception.receipts(
                List.of(arrivals.get(0), arrivals.get(2)), Map.of(identity("a"), isNew(), identity("b"), known(7))));
        receipts.putAll(Reception.receipts(List.of(arrivals.get(1)), Map.of(identity("a"), known(2))));

        List<Receipt> answers = reception.answer(arrivals, receipts);

        assertThat(answers).extracting(Receipt::kind).containsExactly(Kind.FIRST, Kind.DUPLICATE, Kind.DUPLICATE);
        assertThat(answers).extracting(Receipt::receipts).containsExactly(1, 2, 7);
        assertThat(Reception.stored(arrivals, receipts)).extracting(Message::id).containsExactly("a");
    }

    @Test
    void aConflictIsThrownAfterListenersHaveHeardOfEveryArrival() {
        Reception reception = reception(OnConflict.THROW);
        List<Arrival> arrivals = reception.arrivals(List.of(item("a"), item("b")));
        Map<Arrival, Receipt> receipts =
                Reception.receipts(arrivals, Map.of(identity("a"), conflict(), identity("b"), isNew()));

        assertThatThrownBy(() -> reception.answer(arrivals, receipts)).isInstanceOf(ConflictException.class);

        assertThat(events)
                .hasExactlyElementsOfTypes(
                        OutboxEvent.Conflict.class, OutboxEvent.Received.class, OutboxEvent.Enqueued.class);
    }

    @Test
    void aConflictIsAnsweredAsTheInboxWasTold() {
        assertThat(answerToAConflict(OnConflict.ANSWER)).isEqualTo(Kind.CONFLICT);
        assertThat(answerToAConflict(OnConflict.DUPLICATE)).isEqualTo(Kind.DUPLICATE);
        assertThat(events).hasOnlyElementsOfType(OutboxEvent.Conflict.class).hasSize(2);
    }

    private Kind answerToAConflict(OnConflict onConflict) {
        Reception reception = reception(onConflict);
        List<Arrival> arrivals = reception.arrivals(List.of(item("a")));
        return reception
                .answer(arrivals, Reception.receipts(arrivals, Map.of(identity("a"), conflict())))
                .get(0)
                .kind();
    }

    @Test
    void aMessageThatIsOnlyReceivedIsNoWorkItem() {
        Reception reception = reception(OnConflict.THROW);
        List<Arrival> arrivals =
                List.of(reception.arrival(Incoming.from("shop", "a").payload("{}")));
        Map<Arrival, Receipt> receipts = Reception.receipts(arrivals, Map.of(identity("a"), isNew()));

        assertThat(reception.answer(arrivals, receipts))
                .singleElement()
                .extracting(Receipt::isFirst)
                .isEqualTo(true);
        assertThat(Reception.stored(arrivals, receipts)).isEmpty();
        assertThat(events).hasExactlyElementsOfTypes(OutboxEvent.Received.class);
    }

    @Test
    void aRecordThatVanishedMeanwhileCanBeTriedAgain() {
        List<Arrival> arrivals = reception(OnConflict.THROW).arrivals(List.of(item("a")));

        assertThatThrownBy(() -> Reception.receipts(arrivals, Map.of()))
                .isInstanceOfSatisfying(
                        OutboxException.class, e -> assertThat(e.isRetryable()).isTrue())
                .hasMessageContaining("the record of message a of shop was removed");
    }
}
