package dev.outbox;

import dev.outbox.spi.Settlement;
import java.time.Duration;

/** What a worker decided about one item, on its way to be settled. */
record Verdict(Run run, WorkItem item, Settlement settlement, Duration delivery) {}
