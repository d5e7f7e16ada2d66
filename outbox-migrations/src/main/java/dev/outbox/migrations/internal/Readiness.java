package dev.outbox.migrations.internal;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.TableReport;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** Refuses a table that cannot go to a phase yet. Reports and scripts give the same reasons. */
public final class Readiness {
    private Readiness() {}

    /** @throws OutboxException that says everything that is in the way to this phase */
    public static void require(TableReport report, Phase phase) {
        if (report.phase() != phase && report.next() != phase) {
            throw new OutboxException("table \"" + report.table() + "\" is in " + report.phase() + " and cannot go to "
                    + phase + "; its next is " + report.next());
        }
        List<Finding> obstacles = report.phase() == phase ? List.of() : report.obstacles(phase);
        if (!obstacles.isEmpty()) {
            throw new OutboxException("table \"" + report.table() + "\" is not ready for " + phase + ": "
                    + obstacles.stream().map(Finding::text).collect(Collectors.joining(" · ")));
        }
    }

    /** A poller that is alive has not noticed this phase. */
    public static String oldPoller(Phase phase) {
        return "a poller that is alive still reads a phase before " + phase
                + "; wait for its next heartbeat, half a minute at most, or restart it";
    }

    /** The table came to this phase too recently. */
    public static String tooRecent(Phase phase, Duration wait) {
        return "it came to " + phase + " less than " + wait
                + " ago, and some nodes may not have noticed; wait that long";
    }
}
