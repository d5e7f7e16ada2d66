package dev.outbox.testkit;

import dev.outbox.Status;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.assertj.core.api.AbstractAssert;

/** Assertions on the delivered messages of an outbox; see {@link OutboxAssert#hasDelivered}. */
public final class DeliveredAssert extends AbstractAssert<DeliveredAssert, Object> {
    private final List<ItemRow> rows;
    private final String what;
    private final List<ItemRow> delivered;

    DeliveredAssert(Object outbox, List<ItemRow> rows, String what, Predicate<ItemRow> which) {
        super(outbox, DeliveredAssert.class);
        this.rows = rows;
        this.what = what;
        this.delivered = rows.stream()
                .filter(row -> row.status() == Status.DONE && which.test(row))
                .toList();
        if (delivered.isEmpty()) {
            failWithMessage("Expected %s to be delivered, but none was. %s", what, RowsText.of(rows));
        }
    }

    /** At least one of these messages has this key. The assertions that follow are about the messages of this key. */
    public DeliveredAssert withKey(String key) {
        return new DeliveredAssert(
                actual, rows, what + " with key " + key, row -> delivered.contains(row) && key.equals(row.key()));
    }

    /** This many of these messages were delivered. */
    public DeliveredAssert times(int count) {
        if (delivered.size() != count) {
            failWithMessage(
                    "Expected %s to be delivered %s times, but they were %s times. %s",
                    what, count, delivered.size(), RowsText.of(rows));
        }
        return this;
    }

    /**
     * The messages of each key were finished in the order in which they were enqueued, and none overtook an unfinished
     * message of its key. Messages without a key have no order.
     */
    public DeliveredAssert inOrder() {
        Map<String, ItemRow> last = new HashMap<>();
        for (ItemRow row : delivered) {
            String key = row.key();
            if (key == null) {
                continue;
            }
            ItemRow before = last.put(key, row);
            if (before != null && row.finished() < before.finished()) {
                failWithMessage(
                        "Expected %s in order, but of key %s %s was delivered before %s. %s",
                        what, key, row.messageId(), before.messageId(), RowsText.of(rows));
            }
            for (ItemRow earlier : rows) {
                boolean unfinished = earlier.status() == Status.READY || earlier.status() == Status.PROCESSING;
                if (unfinished && earlier.sequence() < row.sequence() && Objects.equals(earlier.key(), key)) {
                    failWithMessage(
                            "Expected %s in order, but of key %s %s was delivered and the earlier %s was not. %s",
                            what, key, row.messageId(), earlier.messageId(), RowsText.of(rows));
                }
            }
        }
        return this;
    }
}
