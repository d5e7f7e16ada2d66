package dev.outbox.admin;

import dev.outbox.Status;
import dev.outbox.jdbc.TableKind;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The status of a table.
 *
 * @param table the table's name, with its schema
 * @param phase the phase of its layout, 0 to 4; a table before phase 3 has no other figures
 * @param counts how many items each topic has in each status; includes Done only in {@link Admin#statusExactly}
 * @param done how many items are Done
 * @param doneIsAbout whether {@code done} is an estimate
 * @param blocked the blocked keys, at most 100
 * @param throughput how fast items become Done; empty if no Done item is kept
 * @param pollers the pollers in the table {@code outbox_pollers}; empty if there is no such table
 */
public record TableStatus(
        TableKind kind,
        String table,
        int phase,
        List<TopicCount> counts,
        long done,
        boolean doneIsAbout,
        List<BlockedKey> blocked,
        Optional<Throughput> throughput,
        List<KnownPoller> pollers) {
    public TableStatus {
        counts = List.copyOf(counts);
        blocked = List.copyOf(blocked);
        pollers = List.copyOf(pollers);
    }

    /** How many items of all topics have this status. */
    public long count(Status status) {
        return status == Status.DONE
                ? done
                : counts.stream()
                        .filter(count -> count.status() == status)
                        .mapToLong(TopicCount::items)
                        .sum();
    }

    /** For how long the oldest due item of all topics has been due; empty if none is. */
    public Optional<Duration> oldestDue() {
        return counts.stream()
                .map(TopicCount::oldestDue)
                .filter(Objects::nonNull)
                .max(Duration::compareTo);
    }
}
