package dev.outbox.admin;

import dev.outbox.Status;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is done to dead letters, batch by batch. */
interface Action {
    boolean dryRun();

    /** @return the items that were changed */
    Set<ItemRef> run(DeadTable dead, List<Item> batch, long before) throws SQLException;

    /** Why this item, as it was read, cannot be changed; null if it can. */
    @Nullable
    String obstacle(Item item);

    /** How long ago an item of this table may have come; null means any time. */
    @Nullable
    Duration window(AdminTable table);

    /** Adds how many of the items it would change, and how many it would not. */
    void count(DeadTable.Count count, Tally tally);

    default Set<ItemRef> possible(List<Item> items) {
        return items.stream()
                .filter(item -> obstacle(item) == null)
                .map(Item::ref)
                .collect(Collectors.toSet());
    }

    private static @Nullable String notDead(Item item) {
        return item.status() == Status.DEAD ? null : "it is not Dead, but " + item.status();
    }

    /** Makes dead letters Ready again. */
    record Requeuing(Requeue how, Duration inboxRetention) implements Action {
        public Requeuing {
            Require.present("how", how);
        }

        @Override
        public boolean dryRun() {
            return how.dryRun();
        }

        @Override
        public Set<ItemRef> run(DeadTable dead, List<Item> batch, long before) throws SQLException {
            return dead.requeue(batch, how, window(dead.table()), before);
        }

        @Override
        public @Nullable String obstacle(Item item) {
            if (item.status() != Status.DEAD) {
                return notDead(item);
            }
            if (item.topic() == null) {
                return "it was received, not enqueued, so that no handler would take it;"
                        + " Inbox.forceRequeue(...) removes its record, so that a redelivery counts as new";
            }
            boolean old = item.ref().kind() == TableKind.INBOX
                    && !how.forced()
                    && item.createdOn().isBefore(Instant.now().minus(inboxRetention));
            return old
                    ? "it came on " + item.createdOn() + ", longer ago than the inbox remembers, " + inboxRetention
                            + ", so that other systems may not remember that they handled it; force it if you know that this"
                            + " is harmless"
                    : null;
        }

        @Override
        public @Nullable Duration window(AdminTable table) {
            return table.kind() == TableKind.OUTBOX || how.forced() ? null : inboxRetention;
        }

        @Override
        public void count(DeadTable.Count count, Tally tally) {
            tally.count(count.requeueable(), count.found() - count.requeueable(), count.atLeast());
        }

        @Override
        public String toString() {
            return "requeue";
        }
    }

    /** Removes dead letters for good. */
    record Discarding(Discard how) implements Action {
        public Discarding {
            Require.present("how", how);
        }

        @Override
        public boolean dryRun() {
            return how.dryRun();
        }

        @Override
        public Set<ItemRef> run(DeadTable dead, List<Item> batch, long before) throws SQLException {
            return dead.discard(batch, how);
        }

        @Override
        public @Nullable String obstacle(Item item) {
            return notDead(item);
        }

        @Override
        public @Nullable Duration window(AdminTable table) {
            return null;
        }

        @Override
        public void count(DeadTable.Count count, Tally tally) {
            tally.count(count.found(), 0, count.atLeast());
        }

        @Override
        public String toString() {
            return "discard";
        }
    }
}
