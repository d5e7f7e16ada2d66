package dev.outbox.admin;

import dev.outbox.Status;
import dev.outbox.admin.internal.Findings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** What the doctor checks about the items of a table, on both databases. */
final class ItemChecks {
    private static final int KEYS_NAMED = 5;

    private final StatusTable status;
    private final DoctorLimits limits;

    ItemChecks(StatusTable status, DoctorLimits limits) {
        this.status = status;
        this.limits = limits;
    }

    void leases(Findings findings) throws SQLException {
        StatusTable.Stuck stuck = status.stuck(limits.stuck());
        if (stuck.items() > 0) {
            findings.warn(
                    stuck.items() + " items have a lease that ended, and no poller took them back",
                    "the oldest ended " + stuck.oldest() + " ago",
                    "pollers find ended leases by themselves: make sure that one runs for these topics");
        }
        findings.okIfNothingFound("no lease is stuck");
    }

    void keys(Findings findings) throws SQLException {
        List<BlockedKey> blocked = status.blocked();
        if (!blocked.isEmpty()) {
            boolean dead = blocked.stream().anyMatch(key -> key.status() == Status.DEAD);
            findings.warn(
                    blocked.size() + (blocked.size() == 1 ? " key is" : " keys are") + " held back by "
                            + (dead ? "a Dead or failing item" : "a failing item"),
                    blocked.stream().limit(KEYS_NAMED).map(ItemChecks::text).collect(Collectors.joining(", ")),
                    dead
                            ? "requeue or discard the Dead item, then its key goes on"
                            : "look at the error of the item; it is retried automatically");
        }
        findings.okIfNothingFound("no key is held back");
    }

    private static String text(BlockedKey key) {
        return key.key() + " (" + key.waiting() + " wait behind " + key.head() + ", "
                + (key.status() == Status.DEAD
                        ? "Dead"
                        : "failing, attempt " + key.attempts() + ", again at " + key.dueOn())
                + ")";
    }

    /** Retention is not stored in the database. What is still there tells whether pollers remove Done items. */
    void retention(Findings findings) throws SQLException {
        Duration oldest = status.oldestDone().orElse(Duration.ZERO);
        long done = status.doneAbout();
        if (oldest.compareTo(limits.retention()) > 0 && done > limits.doneRows()) {
            findings.warn(
                    "Done items are not removed",
                    "about " + done + " items, the oldest Done for " + oldest.toDays() + " days",
                    "set retention(...) on the outbox or inbox of a poller, and look in its log for a purge that fails."
                            + " Remove the existing items with Admin.purge(...)");
        }
        findings.okIfNothingFound("Done items do not pile up");
    }
}
