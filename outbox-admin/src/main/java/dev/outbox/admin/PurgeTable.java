package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.delivery.internal.Purging;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Removes what has been Done for long from one table, in batches that hold no lock for long. */
final class PurgeTable {
    private static final int BATCH = 1_000;
    private static final int MOST_COUNTED = 100_000;

    private final AdminSession session;
    private final AdminTable table;
    private final PurgeStatements sql;

    PurgeTable(AdminSession session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.dialect().purge();
    }

    PurgeResult count(Duration olderThan) throws SQLException {
        try (Query query = session.query(table, sql.count())) {
            query.set("older_than", olderThan).set("most", MOST_COUNTED);
            long found = AdminSession.one(query, row -> row.getLong("found"));
            return new PurgeResult(true, found, found == MOST_COUNTED);
        }
    }

    PurgeResult purge(Duration olderThan) throws SQLException {
        Deque<Optional<String>> consumers = new ArrayDeque<>(consumers());
        return new PurgeResult(false, Purging.byHand().run(() -> batch(consumers, olderThan)), false);
    }

    /** An empty one stands for all rows. */
    private List<Optional<String>> consumers() throws SQLException {
        Optional<String> statement = sql.consumers(table.kind());
        if (statement.isEmpty()) {
            return List.of(Optional.empty());
        }
        try (Query query = session.query(table, statement.get())) {
            return AdminSession.list(query, row -> Optional.of(row.getString("consumer")));
        }
    }

    /** A batch may have the last rows of one consumer and the first of the next. */
    private int batch(Deque<Optional<String>> consumers, Duration olderThan) throws SQLException {
        int removed = 0;
        while (removed < BATCH && !consumers.isEmpty()) {
            int wanted = BATCH - removed;
            int gone = remove(consumers.element(), olderThan, wanted);
            removed += gone;
            if (gone < wanted) {
                consumers.remove();
            }
        }
        return removed;
    }

    private int remove(Optional<String> consumer, Duration olderThan, int batch) throws SQLException {
        try (Query query = session.query(table, sql.remove())) {
            if (consumer.isPresent()) {
                query.set("consumer", session.text(consumer.get()));
            }
            return sql.remove(query, olderThan, batch);
        }
    }
}
