package dev.outbox.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.quickstart.Broker.Arrival;
import dev.outbox.quickstart.Ledger.Entry;
import dev.outbox.quickstart.Report.Promise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two orders of two customers, all well; each test breaks one thing. */
class ReportTest {
    private final List<Entry> stored = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<String> invoices = new ArrayList<>(List.of("ann-2", "bob-2"));

    @BeforeEach
    void twoOrdersWereDelivered() {
        for (String customer : List.of("ann", "bob")) {
            for (int i = 1; i <= Shop.MESSAGES_PER_ORDER; i++) {
                stored.add(entry(customer, i, Status.DONE, true));
                arrivals.add(arrival(customer, i));
            }
        }
    }

    @Test
    void everyPromiseIsKeptWhenEveryMessageArrivedInOrder() {
        assertThat(report().isKept()).isTrue();
        assertThat(broken()).isEmpty();
    }

    @Test
    void keysMayComeInAnyOrderToEachOther() {
        arrivals.sort(Comparator.comparing(arrival -> arrival.messageId().substring("ann".length())));

        assertThat(arrivals).extracting(Arrival::messageId).startsWith("ann-1", "bob-1", "ann-2");
        assertThat(broken()).isEmpty();
    }

    @Test
    void aRepetitionIsNoInversionAndIsCounted() {
        arrivals.add(arrival("ann", 1));

        assertThat(broken()).isEmpty();
        assertThat(report().remarks()).contains("1 of its 7 arrivals");
    }

    @Test
    void aLostMessageBreaksThePromise() {
        arrivals.remove(arrival("bob", 2));

        assertThat(broken()).containsExactly("committed = delivered");
    }

    @Test
    void anOrderWithoutItsMessageBreaksThePromise() {
        stored.remove(entry("bob", 3, Status.DONE, true));
        arrivals.remove(arrival("bob", 3));

        assertThat(broken()).containsExactly("committed = delivered");
    }

    @Test
    void aDeliveredMessageThatTheDatabaseDoesNotHoldBreaksThePromise() {
        arrivals.add(arrival("eve", 1));

        assertThat(broken()).containsExactly("rolled back = never delivered");
    }

    @Test
    void aDeliveredMessageWithoutItsOrderBreaksThePromise() {
        stored.add(entry("eve", 1, Status.DONE, false));
        arrivals.add(arrival("eve", 1));

        assertThat(broken()).containsExactly("rolled back = never delivered");
    }

    @Test
    void anInversionBreaksThePromise() {
        arrivals.add(1, arrivals.remove(2));

        assertThat(broken()).containsExactly("per customer in order");
        assertThat(report().promises().get(2).counted()).startsWith("1 inversions");
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            names = {"READY", "PROCESSING", "DEAD"})
    void aRowThatIsNotDoneBreaksThePromise(Status status) {
        stored.set(0, entry("ann", 1, status, true));

        assertThat(broken()).containsExactly("nothing is stuck");
    }

    @Test
    void aMissingOrSecondInvoiceBreaksThePromise() {
        invoices.remove("ann-2");
        assertThat(broken()).containsExactly("invoiced exactly once");

        invoices.add("bob-2");
        assertThat(broken()).containsExactly("invoiced exactly once");
        assertThat(report().promises().get(4).counted()).isEqualTo("2 sent, 3 arrivals, 2 invoices");
    }

    @Test
    void anInvoiceForWhatWasNeverSentBreaksThePromise() {
        invoices.set(0, "eve-2");
        assertThat(broken()).containsExactly("invoiced exactly once");

        invoices.set(0, "ann-2");
        invoices.add("eve-2");
        assertThat(broken()).containsExactly("invoiced exactly once");
    }

    @Test
    void theTableMarksWhatIsBrokenInAnyEncoding() {
        arrivals.remove(arrival("bob", 2));

        assertThat(report().table(StandardCharsets.UTF_8)).contains("✗  committed", "✓  nothing is stuck");
        assertThat(report().table(StandardCharsets.US_ASCII)).contains("NO   committed", "yes  nothing is stuck");
    }

    private Report report() {
        return Report.of(new Ledger(2, stored, List.of("ann-2", "bob-2"), invoices), arrivals, 1, 0, 3);
    }

    private List<String> broken() {
        return report().promises().stream()
                .filter(promise -> !promise.kept())
                .map(Promise::text)
                .toList();
    }

    private static Entry entry(String customer, int number, Status status, boolean hasOrder) {
        return new Entry(customer + "-" + number, customer, status, hasOrder);
    }

    private static Arrival arrival(String customer, int number) {
        return new Arrival("orders.placed", customer, customer + "-" + number);
    }
}
