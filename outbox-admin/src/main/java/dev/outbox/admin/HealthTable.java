package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.jdbc.Phase;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Looks for trouble in one table, by statements that stay cheap however large the table is. */
final class HealthTable {
    private final AdminSession session;
    private final AdminTable table;

    HealthTable(AdminSession session, AdminTable table) {
        this.session = session;
        this.table = table;
    }

    List<String> complaints(HealthLimits limits) throws SQLException {
        List<String> complaints = new ArrayList<>();
        StatusTable status = new StatusTable(session, table);
        if (!table.phase().before(Phase.FLIPPED)) { // messages flow before it too, but nothing here could tell
            complaints.addAll(items(status, limits));
        }
        List<KnownPoller> pollers = status.pollers();
        silence(pollers, limits).ifPresent(complaints::add);
        complaints.addAll(errors(status, pollers));
        return complaints;
    }

    private List<String> errors(StatusTable status, List<KnownPoller> pollers) throws SQLException {
        if (pollers.stream().allMatch(poller -> poller.lastErrorOn() == null)) {
            return List.of();
        }
        Instant now = status.now();
        return pollers.stream()
                .filter(poller -> poller.hasRecentError(now))
                .map(poller -> table.name() + ": poller " + poller.name() + " survived an error at "
                        + poller.lastErrorOn() + ": " + poller.lastError())
                .toList();
    }

    private List<String> items(StatusTable status, HealthLimits limits) throws SQLException {
        List<String> complaints = new ArrayList<>();
        Backlog backlog = status.backlog(limits.dead() + 1);
        backlog.oldestDue()
                .filter(age -> age.compareTo(limits.oldestDue()) > 0)
                .ifPresent(age -> complaints.add(table.name() + ": an item has been due for " + seconds(age)
                        + ", the limit is " + limits.oldestDue()));
        if (backlog.dead() > limits.dead()) {
            complaints.add(table.name() + ": more than " + limits.dead() + " items are Dead");
        }
        long blocked = status.blockingDead();
        if (blocked > 0) {
            complaints.add(table.name() + ": " + blocked + (blocked == 1 ? " key is" : " keys are")
                    + " blocked by a Dead item; requeue or discard it");
        }
        return complaints;
    }

    /** A poller that is silent while another one works has been replaced, and is no trouble. */
    private Optional<String> silence(List<KnownPoller> pollers, HealthLimits limits) {
        return pollers.stream()
                .min(Comparator.comparing(KnownPoller::silentFor))
                .filter(freshest -> freshest.silentFor().compareTo(limits.silence()) > 0)
                .map(freshest -> table.name() + ": poller " + freshest.name() + " has been silent for "
                        + seconds(freshest.silentFor()) + ", the limit is " + limits.silence());
    }

    private static Duration seconds(Duration length) {
        return Duration.ofSeconds(length.toSeconds());
    }
}
