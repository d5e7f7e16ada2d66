package dev.outbox.torture;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * All that is known of a turn once it is over: what the processes saw, and what is in the database.
 *
 * @param orders the transactions that the business knows of
 * @param outbox by message id
 * @param inbox the work items of the inbox, by message id
 * @param effects in the order they were written
 * @param changes of work items of outbox and inbox, in the order the database made them
 * @param faults what went wrong in this turn, on purpose
 */
record Evidence(
        History.Seen seen,
        Set<String> orders,
        Map<String, Row> outbox,
        Map<String, Row> inbox,
        List<Effect> effects,
        List<Change> changes,
        Set<Fault> faults) {
    /** A work item as it is at the end. */
    record Row(String item, String topic, String key, long sequence, int status, Payload payload) {}

    record Effect(String messageId, boolean altered) {}

    /**
     * How a work item stands.
     *
     * @param token of its owner; null if it has none
     */
    record State(int status, String token, int attempts) {
        /** Before it was inserted. */
        static final State ABSENT = new State(-1, null, 0);

        static State ready(int attempts) {
            return new State(0, null, attempts);
        }

        static State leased(String token, int attempts) {
            return new State(1, token, attempts);
        }

        static State done(int attempts) {
            return new State(2, null, attempts);
        }

        static State dead(int attempts) {
            return new State(3, null, attempts);
        }
    }

    /**
     * When a change happened, in milliseconds.
     *
     * @param began when its transaction did
     * @param made when it was made, before its commit
     * @param committed when its transaction was
     */
    record Times(long began, long made, long committed) {
        static Times at(long millis) {
            return new Times(millis, millis, millis);
        }
    }

    /**
     * One change of a work item.
     *
     * @param xact the transaction that made it
     * @param expired whether it ended a lease that had run out, so that no worker settled it
     * @param early whether that lease had not run out
     * @param due when the item is to be delivered, in milliseconds; 0 for at once
     */
    record Change(
            String xact,
            String queue,
            String item,
            long sequence,
            String key,
            State before,
            State after,
            boolean expired,
            boolean early,
            Times times,
            long due) {
        boolean isInsert() {
            return before.status == -1;
        }

        boolean isClaim() {
            return after.status == 1 && after.token != null && !after.token.equals(before.token);
        }
    }

    /** A legacy table knows no other ids than UUIDs. */
    static String asUuid(String id) {
        return UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)).toString();
    }

    boolean isStored(String id) {
        return outbox.containsKey(id) || outbox.containsKey(asUuid(id));
    }

    static Evidence collect(Server server, Tables tables, History.Seen seen, Set<Fault> faults) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("BEGIN ISOLATION LEVEL REPEATABLE READ"); // whoever was killed may still commit
            Set<String> orders = new HashSet<>();
            try (ResultSet row = statement.executeQuery("SELECT tx FROM " + tables.orders())) {
                while (row.next()) {
                    orders.add(row.getString(1));
                }
            }
            List<Effect> effects = new ArrayList<>();
            try (ResultSet row =
                    statement.executeQuery("SELECT message_id, altered FROM " + tables.effects() + " ORDER BY place")) {
                while (row.next()) {
                    effects.add(new Effect(row.getString(1), row.getBoolean(2)));
                }
            }
            return new Evidence(
                    seen,
                    orders,
                    rows(statement, tables.outbox()),
                    rows(statement, tables.inbox()),
                    effects,
                    changes(statement, tables),
                    faults);
        }
    }

    private static Map<String, Row> rows(Statement statement, String table) throws SQLException {
        Map<String, Row> rows = new HashMap<>();
        try (ResultSet row = statement.executeQuery(
                "SELECT message_id, work_item_id, topic, message_key, sequence, status, rtrim(payload) FROM " + table
                        + " WHERE topic IS NOT NULL")) {
            while (row.next()) {
                String payload = row.getString(7);
                boolean known = payload.equals(payload.toUpperCase(java.util.Locale.ROOT));
                rows.put(
                        row.getString(1),
                        new Row(
                                row.getString(2),
                                row.getString(3),
                                row.getString(4),
                                row.getLong(5),
                                row.getInt(6),
                                known ? Payload.valueOf(payload) : Payload.FINE));
            }
        }
        return rows;
    }

    private static List<Change> changes(Statement statement, Tables tables) throws SQLException {
        List<Change> changes = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(
                "SELECT xact::text, queue, item, sequence, key, COALESCE(old_status, -1), new_status, old_token,"
                        + " new_token, COALESCE(old_attempts, 0), new_attempts, expired, early, (extract(epoch FROM began) * 1000)::bigint,"
                        + " (extract(epoch FROM made) * 1000)::bigint,"
                        + " (extract(epoch FROM COALESCE(pg_xact_commit_timestamp(xact::xid), made)) * 1000)::bigint,"
                        + " COALESCE((extract(epoch FROM due) * 1000)::bigint, 0) FROM " + tables.audit()
                        + " ORDER BY place")) {
            while (row.next()) {
                changes.add(new Change(
                        row.getString(1),
                        row.getString(2),
                        row.getString(3),
                        row.getLong(4),
                        row.getString(5),
                        new State(row.getInt(6), row.getString(8), row.getInt(10)),
                        new State(row.getInt(7), row.getString(9), row.getInt(11)),
                        row.getBoolean(12),
                        row.getBoolean(13),
                        new Times(row.getLong(14), row.getLong(15), row.getLong(16)),
                        row.getLong(17)));
            }
        }
        return changes;
    }
}
