package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.spi.Settlement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a worker decided about one item, on its way to be settled.
 *
 * @param delivery how long the delivery took
 * @param cause why it failed; null if it did not
 */
record Verdict(
        Run run,
        WorkItem item,
        Settlement settlement,
        Duration delivery,
        @Nullable Throwable cause) {
    /** Whether the next item of the run may be delivered: this one is Done, or Dead and skipped. */
    boolean letsItsRunGoOn() {
        return !settlement.holdsBackItsKey();
    }
}
