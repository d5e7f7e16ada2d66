package dev.outbox.admin;

import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.Findings;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** What the doctor checks about the pollers of a table, on both databases. */
final class PollerChecks {
    private final AdminTable table;
    private final StatusTable status;
    private final DoctorLimits limits;

    PollerChecks(AdminTable table, StatusTable status, DoctorLimits limits) {
        this.table = table;
        this.status = status;
        this.limits = limits;
    }

    void pollers(Findings findings) throws SQLException {
        if (!table.listed()) {
            findings.skipped(
                    "the pollers are not known",
                    "there is no table " + table.name().schema() + "." + AdminTable.POLLERS
                            + ", or an older one without its last error",
                    "create it with OutboxMigrations.installAdmin(...)");
            return;
        }
        Duration due = status.oldestDue().orElse(Duration.ZERO);
        Instant now = status.now();
        List<KnownPoller> known = status.pollers();
        boolean alive = known.stream().anyMatch(poller -> !isLong(poller.silentFor()));
        if (!alive && isLong(due)) {
            findings.warn(
                    "no poller is alive, and items are due",
                    "the oldest for " + due + "; pollers known: " + known.size(),
                    "start a poller of this table; a poller that started before the table of the pollers was created reports"
                            + " itself after ten minutes");
        }
        if (alive) {
            unhandled(findings);
        }
        for (KnownPoller poller : known) {
            liveness(poller, alive, findings);
            configuration(poller, findings);
            errors(poller, now, findings);
            claims(poller, now, due, findings);
        }
        findings.okIfNothingFound(known.size() + " known, none silent");
    }

    private boolean isLong(Duration time) {
        return time.compareTo(limits.silence()) > 0;
    }

    /** Topics that no poller delivers, in a table that has pollers. */
    private void unhandled(Findings findings) throws SQLException {
        for (StatusTable.Unhandled topic : status.unhandled(limits.silence())) {
            findings.warn(
                    "items of topic " + topic.topic() + " are due, and no poller delivers them",
                    topic.items() + " items, the oldest for " + topic.oldest()
                            + (topic.lastError() == null ? "" : "; last error: " + topic.lastError()),
                    "make sure that a poller claims the topic: its topics(...) or routes say which ones it claims;"
                            + " if the type is unknown, start a version that knows it");
        }
    }

    /** @param othersLive whether another poller, or this one, is not silent: then this one was replaced */
    private void liveness(KnownPoller poller, boolean othersLive, Findings findings) {
        if (!isLong(poller.silentFor())) {
            return;
        }
        String what = "poller " + poller.name() + " is silent";
        String evidence = "for " + poller.silentFor() + ", version " + poller.version();
        String advice = "if it was stopped for good, delete its row in " + AdminTable.POLLERS
                + ", or wait a day; otherwise look at its log";
        if (othersLive) {
            findings.note(what, evidence, advice);
        } else {
            findings.warn(what, evidence, advice);
        }
    }

    private void configuration(KnownPoller poller, Findings findings) {
        if (poller.longestDelivery().compareTo(poller.lease()) > 0) {
            findings.warn(
                    "deliveries of poller " + poller.name() + " take longer than its lease",
                    "up to " + poller.longestDelivery() + ", the lease is " + poller.lease(),
                    "set lease(...) above the usual delivery time, or make deliveries shorter: if the process stalls while a"
                            + " delivery depends on renewals, another poller repeats the delivery");
        }
        if (poller.phase().compareTo(table.phase().mark()) < 0) {
            findings.warn(
                    "poller " + poller.name() + " reads an older layout",
                    "phase " + poller.phase() + ", the table is in " + table.phase(),
                    "wait for its next heartbeat, or restart it");
        }
    }

    private void errors(KnownPoller poller, Instant now, Findings findings) {
        if (poller.hasRecentError(now)) {
            findings.warn(
                    "poller " + poller.name() + " of " + table.name() + " survived an error",
                    "at " + poller.lastErrorOn() + ": " + poller.lastError(),
                    "its log has the stack trace; after an OutOfMemoryError give the process more memory, or the poller"
                            + " smaller batches, and restart it: other threads may not have survived");
        }
    }

    private void claims(KnownPoller poller, Instant now, Duration due, Findings findings) {
        Duration unsuccessful =
                Duration.between(poller.lastSuccess() == null ? poller.startedOn() : poller.lastSuccess(), now);
        if (isLong(due) && !isLong(poller.silentFor()) && isLong(unsuccessful)) {
            findings.warn(
                    "poller " + poller.name() + " is alive, but does not claim what is due",
                    "its last claim succeeded " + unsuccessful + " ago; the oldest item has been due for " + due,
                    "its log says why claims fail; a poller whose handlers all hang claims nothing either");
        }
    }
}
