package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.queue.Heartbeats;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import dev.outbox.spi.Heartbeat;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Notes the pollers of one table. */
final class SqlServerHeartbeat implements Heartbeats.Statements {
    private static final int INVALID_OBJECT = 208;

    private static final int INVALID_COLUMN = 207;

    static final String FIND = "SELECT CASE WHEN OBJECT_ID(:pollers) IS NULL THEN 0 ELSE 1 END AS found";

    static final String NOTE = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @running bigint = :running, @since bigint = :since_success,
                @since_error bigint = :since_error;
            DECLARE @table nvarchar(127) = :table_name, @poller nvarchar(255) = :poller, @last int = :last;
            DECLARE @started datetime2(7), @success datetime2(7), @error datetime2(7);
            SET @started = DATEADD(millisecond, -CAST(@running % 86400000 AS int),
                DATEADD(day, -CAST(@running / 86400000 AS int), @now));
            SET @success = DATEADD(millisecond, -CAST(@since % 86400000 AS int),
                DATEADD(day, -CAST(@since / 86400000 AS int), @now));
            SET @error = DATEADD(millisecond, -CAST(@since_error % 86400000 AS int),
                DATEADD(day, -CAST(@since_error / 86400000 AS int), @now));
            DELETE p
            FROM {pollers} p WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE p.SeenOn < DATEADD(day, -1, @now);
            DELETE FROM {pollers}
            WHERE TableName = @table AND Poller = @poller;
            IF @last = 0
                INSERT INTO {pollers} (TableName, Poller, Version, Phase, StartedOn, SeenOn, LastSuccessOn, LeaseMs,
                    LongestDeliveryMs, LastErrorOn, LastError)
                VALUES (@table, @poller, :version, :phase, @started, @now, @success, :lease_ms, :longest_delivery_ms,
                    @error, :last_error);
            SELECT @@ROWCOUNT AS noted;
            """;

    private final SqlServerTable table;
    private final String pollers;
    private final Sql find;
    private final SqlServerBatch note;

    SqlServerHeartbeat(SqlServerTable table) {
        this.table = table;
        this.pollers = Quoted.sqlServer(new TableName(table.name().schema(), Heartbeats.TABLE));
        this.find = table.layout().resolve(FIND);
        this.note = SqlServerBatch.of(table.layout().with("pollers", Reading.fixed(pollers)), NOTE);
    }

    @Override
    public boolean isTable(Connection connection) throws SQLException {
        try (Query query = find.on(connection).set("pollers", new NationalText(pollers));
                ResultSet row = query.rows()) {
            row.next();
            return row.getInt("found") == 1;
        }
    }

    @Override
    public boolean isDropped(SQLException e) {
        return e.getErrorCode() == INVALID_OBJECT;
    }

    @Override
    public boolean isOutdated(SQLException e) {
        return e.getErrorCode() == INVALID_COLUMN;
    }

    @Override
    public String newestColumns() {
        return "LastError and LastErrorOn";
    }

    @Override
    public void note(Connection connection, Heartbeat heartbeat) throws SQLException {
        Duration sinceSuccess = heartbeat.sinceSuccess();
        Duration sinceError = heartbeat.sinceError();
        String lastError = Heartbeats.error(heartbeat);
        note.run(
                connection,
                query -> query.set("table_name", new NationalText(table.name().toString()))
                        .set("poller", new NationalText(heartbeat.poller()))
                        .set("last", heartbeat.last() ? 1 : 0)
                        .set("running", heartbeat.running().toMillis())
                        .set("since_success", (Object) (sinceSuccess == null ? null : sinceSuccess.toMillis()))
                        .set("lease_ms", heartbeat.lease().toMillis())
                        .set("longest_delivery_ms", heartbeat.longestDelivery().toMillis())
                        .set("phase", new NationalText(table.phase().mark()))
                        .set("version", new NationalText(heartbeat.version()))
                        .set("since_error", (Object) (sinceError == null ? null : sinceError.toMillis()))
                        .set("last_error", (Object) (lastError == null ? null : new NationalText(lastError))),
                rows -> rows.next());
    }
}
