package dev.outbox.postgres;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Sql;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.spi.Heartbeat;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Notes pollers in the table {@code outbox_pollers} beside theirs, if there is one; where there is none, that is looked
 * at again every ten minutes.
 */
final class PostgresHeartbeat {
    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);
    private static final String UNDEFINED_TABLE = "42P01";

    static final String FIND = "SELECT to_regclass(:pollers) IS NOT NULL";

    static final String NOTE = """
            WITH silent AS (
                DELETE FROM {pollers}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {pollers}
                    WHERE seen_on < statement_timestamp() - interval '1 day'
                      AND NOT (table_name = :table_name AND poller = :poller)
                    FOR UPDATE SKIP LOCKED)))
            INSERT INTO {pollers} (started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms, phase, table_name,
                poller, version)
            VALUES (statement_timestamp() - :running * interval '1 microsecond', statement_timestamp(),
                statement_timestamp() - :since_success::bigint * interval '1 microsecond', :lease_ms, :longest_delivery_ms,
                :phase, :table_name, :poller, :version)
            ON CONFLICT (table_name, poller) DO UPDATE SET started_on = excluded.started_on, seen_on = excluded.seen_on,
                last_success_on = excluded.last_success_on, lease_ms = excluded.lease_ms,
                longest_delivery_ms = excluded.longest_delivery_ms, phase = excluded.phase, version = excluded.version
            """;

    static final String FORGET = """
            DELETE FROM {pollers}
            WHERE table_name = :table_name AND poller = :poller
            """;

    private final PostgresTable table;
    private final Connections connections;
    private final LongSupplier ticker;
    private final String pollers;
    private final Sql find;
    private final Sql note;
    private final Sql forget;
    private boolean found;
    private boolean looked;
    private long lookedAt;

    PostgresHeartbeat(PostgresTable table, Connections connections, LongSupplier ticker) {
        this.table = table;
        this.connections = connections;
        this.ticker = ticker;
        this.pollers = PostgresTable.quote(new TableName(table.name().schema(), "outbox_pollers"));
        Layout layout = new Layout(pollers, Map.of("pollers", pollers)); // it has no phases
        this.find = layout.resolve(FIND);
        this.note = layout.resolve(NOTE);
        this.forget = layout.resolve(FORGET);
    }

    void note(Heartbeat heartbeat) {
        if (!found && looked && ticker.getAsLong() - lookedAt < BETWEEN_LOOKS.toNanos()) {
            return;
        }
        try (Borrowed borrowed = connections.autoCommitting()) {
            if (!found) {
                look(borrowed);
            }
            if (found) {
                write(borrowed, heartbeat);
            }
        } catch (SQLException e) {
            if (UNDEFINED_TABLE.equals(e.getSQLState())) {
                found = false; // dropped meanwhile
            } else {
                throw SqlFailure.of("note of poller " + heartbeat.poller() + " in " + pollers + " failed", e);
            }
        }
    }

    private void look(Borrowed borrowed) throws SQLException {
        try (Query query = find.on(borrowed.connection()).set("pollers", pollers);
                ResultSet row = query.rows()) {
            row.next();
            found = row.getBoolean(1);
            looked = true;
            lookedAt = ticker.getAsLong();
        }
    }

    private void write(Borrowed borrowed, Heartbeat heartbeat) throws SQLException {
        try (Query query = FreshPlan.of(heartbeat.last() ? forget : note, borrowed.connection())) {
            query.set("table_name", table.name().toString()).set("poller", heartbeat.poller());
            if (!heartbeat.last()) {
                query.set("running", heartbeat.running())
                        .set("since_success", heartbeat.sinceSuccess())
                        .set("lease_ms", heartbeat.lease().toMillis())
                        .set("longest_delivery_ms", heartbeat.longestDelivery().toMillis())
                        .set("phase", table.phase().number())
                        .set("version", heartbeat.version());
            }
            query.update();
        }
    }
}
