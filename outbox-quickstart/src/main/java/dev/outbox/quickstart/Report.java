package dev.outbox.quickstart;

import dev.outbox.Status;
import dev.outbox.quickstart.Broker.Arrival;
import dev.outbox.quickstart.Ledger.Entry;
import java.nio.charset.Charset;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Whether the promise was kept: the database's ledger against the broker's record.
 *
 * @param promises one per line of the table
 * @param remarks what happened on the way
 */
record Report(List<Promise> promises, String remarks) {
    /** One promise and what was counted. */
    record Promise(String text, boolean kept, String counted) {}

    static Report of(
            Ledger ledger, List<Arrival> arrivals, int rolledBackOrders, int failedCalls, int arrivalsAtConsumer) {
        Set<String> delivered = new LinkedHashSet<>();
        arrivals.forEach(arrival -> delivered.add(arrival.messageId()));
        return new Report(
                List.of(
                        committedIsDelivered(ledger, delivered),
                        rolledBackIsNeverDelivered(ledger, delivered, rolledBackOrders),
                        keysAreInOrder(ledger, delivered),
                        nothingIsStuck(ledger),
                        invoicedOnce(ledger, arrivalsAtConsumer)),
                text(
                        "The broker failed %,d calls; %,d of its %,d arrivals were repetitions, told by their id.",
                        failedCalls, arrivals.size() - delivered.size(), arrivals.size()));
    }

    private static Promise committedIsDelivered(Ledger ledger, Set<String> delivered) {
        long expected = (long) ledger.orders() * Shop.MESSAGES_PER_ORDER;
        long arrived = ledger.entries().stream()
                .filter(Entry::hasOrder)
                .filter(entry -> delivered.contains(entry.messageId()))
                .count();
        return new Promise(
                "committed = delivered",
                arrived == expected,
                text("%,d of %,d messages of %,d orders", arrived, expected, ledger.orders()));
    }

    private static Promise rolledBackIsNeverDelivered(Ledger ledger, Set<String> delivered, int rolledBackOrders) {
        Set<String> phantoms = new LinkedHashSet<>(delivered);
        ledger.entries().stream().filter(Entry::hasOrder).map(Entry::messageId).forEach(phantoms::remove);
        return new Promise(
                "rolled back = never delivered",
                phantoms.isEmpty(),
                text(
                        "%,d of %,d messages of %,d orders",
                        phantoms.size(), rolledBackOrders * Shop.MESSAGES_PER_ORDER, rolledBackOrders));
    }

    /** Only first arrivals count, because a repetition may come late. */
    private static Promise keysAreInOrder(Ledger ledger, Set<String> firstArrivals) {
        Map<String, Integer> positions = new HashMap<>();
        Map<String, String> customers = new HashMap<>();
        for (Entry entry : ledger.entries()) {
            positions.put(entry.messageId(), positions.size());
            customers.put(entry.messageId(), entry.customer());
        }
        Map<String, Integer> latest = new HashMap<>();
        int inversions = 0;
        for (String id : firstArrivals) {
            Integer position = positions.get(id);
            String customer = customers.get(id);
            if (position != null && customer != null) {
                Integer before = latest.put(customer, position);
                inversions += before != null && before > position ? 1 : 0;
            }
        }
        return new Promise(
                "per customer in order",
                inversions == 0,
                text("%,d inversions, %,d customers", inversions, latest.size()));
    }

    private static Promise nothingIsStuck(Ledger ledger) {
        return new Promise(
                "nothing is stuck",
                count(ledger, Status.DONE) == ledger.entries().size(),
                text(
                        "%,d Ready, %,d Processing, %,d Dead, %,d Done",
                        count(ledger, Status.READY),
                        count(ledger, Status.PROCESSING),
                        count(ledger, Status.DEAD),
                        count(ledger, Status.DONE)));
    }

    private static Promise invoicedOnce(Ledger ledger, int arrivalsAtConsumer) {
        int due = ledger.invoicesDue().size();
        int invoices = ledger.invoices().size();
        Set<String> invoiced = new LinkedHashSet<>(ledger.invoices());
        return new Promise(
                "invoiced exactly once",
                invoices == due && invoiced.equals(new LinkedHashSet<>(ledger.invoicesDue())),
                text("%,d sent, %,d arrivals, %,d invoices", due, arrivalsAtConsumer, invoices));
    }

    private static long count(Ledger ledger, Status status) {
        return ledger.entries().stream()
                .filter(entry -> entry.status() == status)
                .count();
    }

    boolean isKept() {
        return promises.stream().allMatch(Promise::kept);
    }

    /** The table, with check marks that this encoding can print. */
    String table(Charset charset) {
        boolean ticks = charset.newEncoder().canEncode("✓✗");
        StringBuilder table = new StringBuilder();
        for (Promise promise : promises) {
            String mark = promise.kept() ? (ticks ? "✓" : "yes") : (ticks ? "✗" : "NO ");
            table.append(text("  %s  %-30s  %s%n", mark, promise.text(), promise.counted()));
        }
        return table.append(System.lineSeparator()).append(remarks).toString();
    }

    private static String text(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }
}
