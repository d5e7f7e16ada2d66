package dev.outbox.postgres;

import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.Heartbeats;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.spi.Heartbeat;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;

/** Notes the pollers of one table. */
final class PostgresHeartbeat implements Heartbeats.Statements {
    private static final String UNDEFINED_TABLE = "42P01";

    private static final String UNDEFINED_COLUMN = "42703";

    static final String FIND = "SELECT to_regclass(:pollers) IS NOT NULL";

    static final String NOTE = """
            WITH silent AS (
                DELETE FROM {pollers}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {pollers}
                    WHERE seen_on < statement_timestamp() - interval '1 day'
                      AND NOT (table_name = :table_name AND poller = :poller)
                    FOR UPDATE SKIP LOCKED)))
            INSERT INTO {pollers} (started_on, seen_on, last_success_on, last_error_on, lease_ms, longest_delivery_ms,
                phase, table_name, poller, version, last_error)
            VALUES (statement_timestamp() - :running * interval '1 microsecond', statement_timestamp(),
                statement_timestamp() - :since_success::bigint * interval '1 microsecond',
                statement_timestamp() - :since_error::bigint * interval '1 microsecond', :lease_ms, :longest_delivery_ms,
                :phase, :table_name, :poller, :version, :last_error)
            ON CONFLICT (table_name, poller) DO UPDATE SET started_on = excluded.started_on, seen_on = excluded.seen_on,
                last_success_on = excluded.last_success_on, last_error_on = excluded.last_error_on,
                lease_ms = excluded.lease_ms, longest_delivery_ms = excluded.longest_delivery_ms, phase = excluded.phase,
                version = excluded.version, last_error = excluded.last_error
            """;

    static final String FORGET = """
            DELETE FROM {pollers}
            WHERE table_name = :table_name AND poller = :poller
            """;

    private final PostgresTable table;
    private final String pollers;
    private final Sql find;
    private final Sql note;
    private final Sql forget;

    PostgresHeartbeat(PostgresTable table) {
        this.table = table;
        this.pollers = Quoted.postgres(new TableName(table.name().schema(), Heartbeats.TABLE));
        Layout layout = Layout.of(pollers, Map.of("pollers", pollers)); // it has no phases
        this.find = layout.resolve(FIND);
        this.note = layout.resolve(NOTE);
        this.forget = layout.resolve(FORGET);
    }

    @Override
    public boolean isTable(Connection connection) throws SQLException {
        try (Query query = find.on(connection).set("pollers", pollers);
                ResultSet row = query.rows()) {
            row.next();
            return row.getBoolean(1);
        }
    }

    @Override
    public boolean isDropped(SQLException e) {
        return UNDEFINED_TABLE.equals(e.getSQLState());
    }

    @Override
    public boolean isOutdated(SQLException e) {
        return UNDEFINED_COLUMN.equals(e.getSQLState());
    }

    @Override
    public String newestColumns() {
        return "last_error and last_error_on";
    }

    @Override
    public void note(Connection connection, Heartbeat heartbeat) throws SQLException {
        try (Query query = FreshPlan.of(heartbeat.last() ? forget : note, connection)) {
            query.set("table_name", table.name().toString()).set("poller", heartbeat.poller());
            if (!heartbeat.last()) {
                query.set("running", heartbeat.running())
                        .set("since_success", heartbeat.sinceSuccess())
                        .set("lease_ms", heartbeat.lease().toMillis())
                        .set("longest_delivery_ms", heartbeat.longestDelivery().toMillis())
                        .set("phase", table.phase().mark())
                        .set("version", heartbeat.version())
                        .set("since_error", heartbeat.sinceError())
                        .set("last_error", Heartbeats.error(heartbeat));
            }
            query.update();
        }
    }
}
