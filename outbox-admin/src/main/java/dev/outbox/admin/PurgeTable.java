package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.delivery.internal.Purging;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Duration;

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
        return new PurgeResult(false, Purging.byHand().run(() -> batch(olderThan)), false);
    }

    private int batch(Duration olderThan) throws SQLException {
        try (Query query = session.query(table, sql.purge())) {
            return query.set("older_than", olderThan).set("batch", BATCH).update();
        }
    }
}
