package dev.outbox.sqlserver;

import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.queue.Heartbeats;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.queue.SourceStatements;
import dev.outbox.jdbc.internal.sql.Timestamps;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a source over a SQL Server table. The claim is in {@link SqlServerClaim}, settle and renew are in {@link
 * SqlServerSettle}.
 */
final class SqlServerSourceStatements implements SourceStatements {
    private static final int EXPIRED_BATCH = 500;

    /**
     * Leases that ran out: Ready again, or Dead with no attempt left; on a timer, not with each claim. A row whose
     * owner is renewing or settling it right now is locked, and skipped. A lease without an end, which somebody else
     * must have written, counts as expired: nothing else would ever find it.
     *
     * <p>A message that kills its worker takes the attempts of everything claimed with it. So what expires again comes
     * back at random times, each time further apart, and finds itself in other company.
     */
    static final String EXPIRE = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @max_attempts int = :max_attempts, @blocking bit = :blocking,
                @batch int = :batch, @filtered bit = :filtered;
            DECLARE @topics TABLE (Wanted nvarchar(256) COLLATE Latin1_General_100_BIN2 NOT NULL);
            INSERT INTO @topics (Wanted)
            SELECT j.t + N'.' FROM OPENJSON(:topics) WITH (t nvarchar(255) '$.t') j;
            DECLARE @expired TABLE (Item {id_type} NOT NULL, sequence bigint NULL, attempt_count int NOT NULL,
                created_on datetimeoffset(7) NOT NULL, topic nvarchar(255) NULL, message_key nvarchar(255) NULL,
                source nvarchar(255) NULL);
            UPDATE {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK) SET
                {status = CASE WHEN {attempt_count} >= @max_attempts THEN 3 ELSE 0 END},
                {blocks_key = CASE WHEN @blocking = 1 AND {attempt_count} >= @max_attempts
                    AND {message_key} IS NOT NULL THEN 1 ELSE 0 END},
                {owner_token = NULL}, {locked_until = NULL},
                {due_on = CASE
                    WHEN {message_key} IS NOT NULL AND {sequence} > (
                        SELECT MIN(h.{sequence}) FROM {table} h WITH (READUNCOMMITTED)
                        WHERE {mine} AND h.{exact_key} = picked.exact_key AND h.{status} < 2 AND h.{status} = 1
                          AND h.{message_key} IS NOT NULL)
                    THEN {due_on}
                    WHEN {attempt_count} = 1 THEN @now
                    ELSE DATEADD(millisecond, ABS(CHECKSUM(NEWID()) % 1000)
                        * CASE WHEN {attempt_count} > 10 THEN 300 ELSE POWER(2, {attempt_count} - 2) END, @now)
                    END},
                {first_due_on = COALESCE({first_due_on}, {due_on}, {created_on})},
                {processed_on = CASE WHEN {attempt_count} >= @max_attempts THEN @now END},
                {last_error = CONCAT(N'lease expired on attempt ', {attempt_count}, N' at ',
                    COALESCE({processed_by}, N'an unknown poller'))}
            OUTPUT {out_work_item_id}, {out_sequence}, {out_attempt_count}, {out_created_on},
                    {out_topic}, {out_message_key}, {out_source}
                INTO @expired (Item, sequence, attempt_count, created_on, topic, message_key, source)
            FROM (
                SELECT TOP (@batch) e.{place} AS place, e.{exact_key} AS exact_key
                FROM {table} e WITH ({by_leased}ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE {mine} AND e.{processing} AND (e.{locked_until} <= @now OR e.{locked_until} IS NULL)
                  AND e.{has_topic}
                  AND (@filtered = 0 OR EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = e.{topic} + N'.'))
                ORDER BY e.{claim_order}) picked
            WHERE {place} = picked.place AND {processing} AND ({locked_until} <= @now OR {locked_until} IS NULL);
            SELECT {item_text} AS id, COALESCE(sequence, 0) AS sequence, attempt_count, created_on, topic, message_key,
                source, CASE WHEN attempt_count >= @max_attempts THEN 3 ELSE 0 END AS status
            FROM @expired;
            """;

    /**
     * The next time that lies ahead. Rows already due do not count: either a claim takes them, or they are
     * held back by their key, and then nothing here will change that. Of a key only the head counts, and only
     * while nothing of it is leased and nothing blocks it. The nearest hundred of each kind are looked at; if none of
     * these counts, the idle poll has to do. A guess by dirty reads is good enough, and waits for nobody.
     */
    static final String NEXT_DUE = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @filtered bit = :filtered;
            DECLARE @topics TABLE (Wanted nvarchar(256) COLLATE Latin1_General_100_BIN2 NOT NULL);
            INSERT INTO @topics (Wanted)
            SELECT j.t + N'.' FROM OPENJSON(:topics) WITH (t nvarchar(255) '$.t') j;
            DECLARE @ahead TABLE (DueOn datetimeoffset(7) NOT NULL,
                Topic nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL,
                ExactKey nvarchar(256) COLLATE Latin1_General_100_BIN2 NULL, Sequence bigint NULL);
            INSERT INTO @ahead (DueOn, Topic, Sequence)
            SELECT TOP (100) {due_on}, {topic}, {sequence} FROM {table} WITH (READUNCOMMITTED)
            WHERE {mine} AND {ready} AND {has_topic} AND {message_key} IS NULL AND {due_on} IS NOT NULL
              AND {priority} = 0 AND {due_on} > @now
            ORDER BY {due_on};
            INSERT INTO @ahead (DueOn, Topic, Sequence)
            SELECT TOP (100) {due_on}, {topic}, {sequence} FROM {table} WITH (READUNCOMMITTED)
            WHERE {mine} AND {ready} AND {has_topic} AND {message_key} IS NULL AND {due_on} IS NOT NULL
              AND {priority} = 1 AND {due_on} > @now
            ORDER BY {due_on};
            INSERT INTO @ahead (DueOn, Topic, Sequence)
            SELECT TOP (100) {due_on}, {topic}, {sequence} FROM {table} WITH (READUNCOMMITTED)
            WHERE {mine} AND {ready} AND {has_topic} AND {message_key} IS NULL AND {due_on} IS NOT NULL
              AND {priority} = 2 AND {due_on} > @now
            ORDER BY {due_on};
            INSERT INTO @ahead (DueOn, Topic, ExactKey, Sequence)
            SELECT TOP (100) {due_on}, {topic}, {exact_key}, {sequence} FROM {table} WITH (READUNCOMMITTED)
            WHERE {mine} AND {ready} AND {message_key} IS NOT NULL AND {due_on} IS NOT NULL AND {due_on} > @now
            ORDER BY {due_on};
            SELECT CAST(@now AS datetimeoffset(7)) AS at, MIN(a.DueOn) AS due_on
            FROM @ahead a
            WHERE (@filtered = 0 OR EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = a.Topic + N'.'))
              AND (a.ExactKey IS NULL OR a.Sequence = (
                    SELECT TOP (1) {sequence} FROM {table} WITH (READUNCOMMITTED)
                    WHERE {mine} AND {status} < 2 AND {message_key} IS NOT NULL AND {exact_key} = a.ExactKey
                    ORDER BY {status} DESC, {sequence})
                AND NOT EXISTS (
                    SELECT 1 FROM {table} WITH (READUNCOMMITTED)
                    WHERE {mine} AND {status} = 3 AND {blocks_key} = 1 AND {exact_key} = a.ExactKey));
            """;

    private final SqlServerTable table;
    private final SqlServerHandling handling;
    private final SqlServerBatch expire;
    private final ClaimStatement claim;
    private final SqlServerSettle settle;
    private final SqlServerBatch nextDue;
    private final SqlServerPurge purge;
    private final @Nullable SqlServerPurge purgeDead;

    SqlServerSourceStatements(SqlServerTable table, SourceSettings settings) {
        this.table = table;
        this.handling = new SqlServerHandling(table);
        this.expire = SqlServerBatch.of(table.layout(), EXPIRE);
        this.claim = table.byOld()
                ? new SqlServerLegacyClaim(table, settings.serializer())
                : new SqlServerClaim(table, settings);
        this.settle = new SqlServerSettle(table, settings.ack());
        this.nextDue = SqlServerBatch.of(table.layout(), NEXT_DUE);
        this.purge = SqlServerPurge.ofDone(table, settings.connections(), settings.retention());
        Duration deadRetention = settings.deadRetention();
        this.purgeDead =
                deadRetention == null ? null : SqlServerPurge.ofDead(table, settings.connections(), deadRetention);
    }

    @Override
    public ClaimCycle.Expired expire(Connection connection, ClaimRequest request) throws SQLException {
        return expire.run(
                connection,
                query -> query.set("max_attempts", request.maxAttempts())
                        .set("blocking", request.onDead() == OnDead.BLOCK)
                        .set("batch", EXPIRED_BATCH)
                        .set("topics", JsonRows.topics(request.topics()))
                        .set("filtered", !request.topics().isEmpty()),
                rows -> ClaimCycle.Expired.read(rows, EXPIRED_BATCH));
    }

    @Override
    public ClaimedRows claim(Connection connection, ClaimRequest request) throws SQLException {
        return claim.run(connection, request);
    }

    @Override
    public Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException {
        return settle.settle(connection, settlements);
    }

    @Override
    public Set<Lease> settleIn(Connection tx, List<Settlement> settlements, Duration lockLimit) throws SQLException {
        return settle.settleIn(tx, settlements);
    }

    @Override
    public Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return settle.renew(connection, leases, length);
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, Set<String> topics) throws SQLException {
        return nextDue.run(
                connection,
                query -> query.set("topics", JsonRows.topics(topics)).set("filtered", !topics.isEmpty()),
                row -> {
                    row.next();
                    Instant due = Timestamps.readOptional(row, "due_on");
                    return due == null
                            ? Optional.empty()
                            : Optional.of(Duration.between(Timestamps.read(row, "at"), due));
                });
    }

    @Override
    public int purge(Duration limit) {
        int done = purge.batch(limit);
        return done == SqlServerPurge.BATCH || purgeDead == null ? done : done + purgeDead.batch(limit);
    }

    @Override
    public Heartbeats.Statements heartbeats() {
        return new SqlServerHeartbeat(table);
    }

    /** Whatever the pool says: under SNAPSHOT a settle after a renewal would fail for ever. */
    @Override
    public void begin(Connection tx) throws SQLException {
        tx.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        handling.begin(tx);
    }

    @Override
    public OutboxException settleFailure(SQLException e) {
        return handling.failure(e);
    }

    @Override
    public boolean afterFailure(Connection connection, SQLException e) {
        return false;
    }
}
