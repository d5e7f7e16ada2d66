package dev.outbox.jdbc.internal.claim;

import dev.outbox.PayloadSerializer;
import dev.outbox.WorkItem;
import dev.outbox.spi.ClaimRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a claim query leased.
 *
 * @param unreadable leased rows that cannot be read as messages, written by somebody else
 * @param more whether another claim right now may find rows
 */
public record ClaimedRows(
        String ownerToken, Instant at, List<WorkItem> items, List<Unreadable> unreadable, boolean more) {

    public record Unreadable(WorkItem item, @Nullable String key, String error) {}

    /** The topics asked for: those listed, or all but those; and no filter if there are none. */
    public record Topics(Set<String> names, boolean listed) {
        public static Topics of(ClaimRequest request) {
            boolean listed = !request.topics().isEmpty();
            Set<String> names = new HashSet<>(listed ? request.topics() : request.except());
            if (listed) {
                names.removeAll(request.except());
            }
            return new Topics(names, listed);
        }

        public boolean areNone() {
            return listed && names.isEmpty();
        }

        boolean want(String topic) {
            return names.contains(topic) == listed;
        }

        /** Whether the others are all among these. */
        boolean cover(Topics others) {
            if (listed) {
                return others.listed && names.containsAll(others.names);
            }
            return others.listed ? Collections.disjoint(names, others.names) : others.names.containsAll(names);
        }

        public boolean areAll() {
            return !listed && names.isEmpty();
        }
    }

    /** Without a look at the table. */
    public static ClaimedRows nothing() {
        return new ClaimedRows(UUID.randomUUID().toString(), Instant.EPOCH, List.of(), List.of(), false);
    }

    /** Reads a row as an item, if it is one. */
    public static void read(
            ResultSet row, @Nullable PayloadSerializer serializer, List<WorkItem> items, List<Unreadable> unreadable)
            throws SQLException {
        try {
            items.add(WorkItemRow.read(row, serializer));
        } catch (RuntimeException e) {
            unreadable.add(new Unreadable(
                    WorkItemRow.named(row), row.getString("message_key"), String.valueOf(e.getMessage())));
        }
    }

    ClaimedRows more(boolean more) {
        return new ClaimedRows(ownerToken, at, items, unreadable, more);
    }

    boolean isEmpty() {
        return items.isEmpty() && unreadable.isEmpty();
    }
}
