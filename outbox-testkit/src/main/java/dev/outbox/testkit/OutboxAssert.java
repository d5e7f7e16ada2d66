package dev.outbox.testkit;

import dev.outbox.Status;
import java.util.List;
import java.util.function.Predicate;
import org.assertj.core.api.AbstractAssert;

/** Assertions on the rows of an outbox; see {@link OutboxAssertions}. */
public final class OutboxAssert extends AbstractAssert<OutboxAssert, Object> {
    private final List<ItemRow> rows;

    OutboxAssert(Object outbox, List<ItemRow> rows) {
        super(outbox, OutboxAssert.class);
        this.rows = rows;
    }

    /** At least one message to this topic was delivered. The assertions that follow are about these messages. */
    public DeliveredAssert hasDelivered(String topic) {
        return new DeliveredAssert(
                actual, rows, "messages to " + topic, row -> row.topic().equals(topic));
    }

    /** No message to this topic was delivered. */
    public OutboxAssert hasNotDelivered(String topic) {
        return none(
                "no message to " + topic + " to be delivered",
                row -> row.topic().equals(topic) && row.status() == Status.DONE);
    }

    /** No item is Dead. */
    public OutboxAssert hasNoDeadItems() {
        return none("no item to be Dead", row -> row.status() == Status.DEAD);
    }

    /**
     * Every item is finished, or waits for a time that has not come or for an earlier item of its key: no item is due and
     * unclaimed, and no expired lease is left. An item behind a Dead item that blocks its key counts as stuck until the Dead
     * item is requeued.
     */
    public OutboxAssert hasNoStuckItems() {
        return none(
                "every item to be finished or to wait for its turn",
                row -> isUnfinished(row) && !row.waits() && !isBehindAnother(row));
    }

    private static boolean isUnfinished(ItemRow row) {
        return row.status() == Status.READY || row.status() == Status.PROCESSING;
    }

    private boolean isBehindAnother(ItemRow row) {
        return row.key() != null
                && rows.stream()
                        .anyMatch(earlier -> isUnfinished(earlier)
                                && earlier.sequence() < row.sequence()
                                && row.key().equals(earlier.key()));
    }

    private OutboxAssert none(String expected, Predicate<ItemRow> unwanted) {
        List<ItemRow> found = rows.stream().filter(unwanted).toList();
        if (!found.isEmpty()) {
            failWithMessage("Expected %s, but %s", expected, RowsText.of(found, rows));
        }
        return this;
    }
}
