package dev.outbox;

import dev.outbox.spi.Settlement;
import java.time.Duration;

/** What a worker decided about one item, on its way to be settled. */
record Verdict(Run run, WorkItem item, Settlement settlement, Duration delivery) {
    /** The same after this long: what is left of a retry's delay. */
    Verdict after(Duration time) {
        Duration left = settlement.delay().minus(time);
        return new Verdict(
                run,
                item,
                new Settlement(
                        settlement.lease(),
                        settlement.kind(),
                        left.isNegative() ? Duration.ZERO : left,
                        settlement.error(),
                        settlement.attemptGivenBack(),
                        settlement.onDead()),
                delivery);
    }
}
