package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.SettlementValues;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import dev.outbox.spi.Unchanged;
import dev.outbox.sqlserver.SqlServerItems.Names;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Settle and renew: every write is fenced by id, owner token and status, and answers what it changed; what
 * is missing from the answer was fenced.
 *
 * <p>Each settlement carries its own token, so the ends of several claims go in one batch. A row that holds back its
 * key, Ready again or Dead and blocking, takes the later rows of its run along: left leased they would block the
 * key until the lease expires. A row without a delay keeps its place in its key, and without a key gets a due time,
 * which puts it where no mark hides it. The first time that a row goes back, FirstDueOn keeps when it was due until then.
 * What is fenced already is forgotten first, so that each id has one token. All that is no DELETE happens in one
 * statement, so that a run comes back whole or not at all.
 */
final class SqlServerSettle {
    static final String SETTLE = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @delete_done bit = :delete_done;
            DECLARE @texts nvarchar(max) = :texts;
            DECLARE @verdicts TABLE (Item {id_type} NOT NULL, Token uniqueidentifier NOT NULL,
                Verdict smallint NOT NULL, Delay bigint NULL, Error nvarchar(2000) NULL, GivenBack int NOT NULL,
                Blocks bit NOT NULL);
            DECLARE @settled TABLE (Item {id_type} NOT NULL);
            INSERT INTO @verdicts (Item, Token, Verdict, Delay, Error, GivenBack, Blocks)
            SELECT j.id, j.token, j.verdict, j.delay, SUBSTRING(x.texts, j.error_at, j.error_length), j.given_back, j.blocks
            FROM OPENJSON(:settlements) WITH (id {json_id} '$.id', token uniqueidentifier '$.token',
                verdict smallint '$.verdict', delay bigint '$.delay', error_at int '$.error_at',
                error_length int '$.error_length',
                given_back int '$.given_back', blocks bit '$.blocks') j
            CROSS JOIN (SELECT @texts COLLATE Latin1_General_100_BIN2 AS texts) x;
            DELETE v FROM @verdicts v WHERE NOT EXISTS (
                SELECT 1 FROM {table} t
                WHERE t.{work_item_id} = v.Item AND t.{owner_token} = v.Token AND t.{status} = 1
                  AND t.{has_topic});
            INSERT INTO @verdicts (Item, Token, Verdict, Delay, Error, GivenBack, Blocks)
            SELECT later.{work_item_id}, held.token, 0, NULL, NULL, 1, 0
            FROM (
                SELECT t.{exact_key} AS exact_key, t.{owner_token} AS token, MIN(t.{sequence}) AS sequence
                FROM @verdicts v JOIN {table} t
                  ON t.{work_item_id} = v.Item AND t.{owner_token} = v.Token AND t.{status} = 1
                WHERE t.{has_topic} AND (v.Verdict = 0 OR v.Blocks = 1) AND t.{message_key} IS NOT NULL
                GROUP BY t.{exact_key}, t.{owner_token}) held
            JOIN {table} later
              ON later.{exact_key} = held.exact_key AND later.{owner_token} = held.token
                AND later.{sequence} > held.sequence
            WHERE {mine} AND later.{status} < 2 AND later.{status} = 1 AND later.{message_key} IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM @verdicts v WHERE v.Item = later.{work_item_id});
            IF @delete_done = 1
                DELETE t
                OUTPUT deleted.{work_item_id} INTO @settled (Item)
                FROM {table} t WITH (ROWLOCK) JOIN @verdicts v ON t.{work_item_id} = v.Item
                WHERE v.Verdict = 2 AND t.{owner_token} = v.Token AND t.{status} = 1 AND t.{has_topic};
            UPDATE {table} WITH (ROWLOCK) SET {status = v.Verdict}, {owner_token = NULL}, {locked_until = NULL},
                {attempt_count = {attempt_count} - v.GivenBack},
                {blocks_key = CASE WHEN v.Blocks = 1 AND {message_key} IS NOT NULL THEN 1 ELSE 0 END},
                {last_error = CASE WHEN v.Error IS NULL THEN {last_error}
                    ELSE v.Error COLLATE Latin1_General_100_BIN2 END},
                {due_on = CASE
                    WHEN v.Verdict <> 0 THEN {due_on}
                    WHEN v.Delay IS NOT NULL THEN DATEADD(millisecond, CAST(v.Delay % 86400000 AS int),
                        DATEADD(day, CAST(v.Delay / 86400000 AS int), @now))
                    WHEN {message_key} IS NULL THEN @now
                    ELSE {due_on} END},
                {first_due_on = CASE WHEN v.Verdict = 0 THEN COALESCE({first_due_on}, {due_on}, {created_on})
                    ELSE {first_due_on} END},
                {processed_on = CASE WHEN v.Verdict <> 0 THEN @now END}
            OUTPUT inserted.{work_item_id} INTO @settled (Item)
            FROM @verdicts v
            WHERE {work_item_id} = v.Item AND {owner_token} = v.Token AND {status} = 1 AND {has_topic}
              AND (v.Verdict <> 2 OR @delete_done = 0);
            SELECT v.{item_text} AS id, LOWER(CAST(v.Token AS nvarchar(36))) AS token, 0 AS locked
            FROM @settled s JOIN @verdicts v ON v.Item = s.Item;
            """;

    /**
     * Touches no index: LockedUntil is in none. A row that another transaction has locked is passed by; a dirty read tells
     * whether it still is under our token.
     */
    static final String RENEW = """
            DECLARE @until datetime2(7) = DATEADD(millisecond, CAST(:lease AS int), SYSUTCDATETIME());
            DECLARE @leases TABLE (Item {id_type} NOT NULL, Token uniqueidentifier NOT NULL);
            DECLARE @renewed TABLE (Item {id_type} NOT NULL, Token uniqueidentifier NOT NULL);
            INSERT INTO @leases (Item, Token)
            SELECT j.id, j.token
            FROM OPENJSON(:leases) WITH (id {json_id} '$.id', token uniqueidentifier '$.token') j;
            UPDATE {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) SET {locked_until = @until}
            OUTPUT inserted.{work_item_id}, inserted.{owner_token} INTO @renewed (Item, Token)
            FROM @leases l
            WHERE {work_item_id} = l.Item AND {owner_token} = l.Token AND {status} = 1 AND {has_topic};
            SELECT {item_text} AS id, LOWER(CAST(Token AS nvarchar(36))) AS token, 0 AS locked FROM @renewed
            UNION ALL
            SELECT l.{item_text}, LOWER(CAST(l.Token AS nvarchar(36))), 1
            FROM @leases l JOIN {table} t WITH (READUNCOMMITTED)
              ON t.{work_item_id} = l.Item AND t.{owner_token} = l.Token AND t.{status} = 1 AND t.{has_topic}
            WHERE NOT EXISTS (SELECT 1 FROM @renewed r WHERE r.Item = l.Item);
            """;

    private final boolean byCodePoint;
    private final boolean deleteDone;
    private final Sql settleInHandlersTransaction;
    private final SqlServerBatch settle;
    private final SqlServerBatch renew;
    private final SqlServerItems items;

    SqlServerSettle(SqlServerTable table, Ack ack) {
        Layout layout = table.layout();
        this.byCodePoint = table.byCodePoint();
        this.deleteDone = ack == Ack.DELETE;
        this.settleInHandlersTransaction = layout.resolve(SqlServerHandling.SAME + SETTLE);
        this.settle = SqlServerBatch.of(layout, SETTLE);
        this.renew = SqlServerBatch.of(layout, RENEW);
        this.items = new SqlServerItems(table);
    }

    /** On a connection in auto-commit mode. It waits for rows that another transaction has locked. */
    Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException {
        List<Lease> leases = SettlementValues.leases(settlements);
        Names names = items.names(connection, leases);
        return settle.run(connection, query -> set(query, settlements, names), rows -> unchanged(leases, names, rows));
    }

    /** In a handler's transaction, whose settings are the handler's. Answers what was fenced. */
    Set<Lease> settleIn(Connection tx, List<Settlement> settlements) throws SQLException {
        List<Lease> leases = SettlementValues.leases(settlements);
        Names names = items.names(tx, leases);
        try (Query query = settleInHandlersTransaction.on(tx)) {
            set(query, settlements, names);
            try (ResultSet rows = query.rows()) {
                return unchanged(leases, names, rows).lost();
            }
        }
    }

    Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        Names names = items.names(connection, leases);
        JsonRows rows = new JsonRows(byCodePoint);
        leases.forEach(lease -> rows.row().set("id", names.sent(lease)).set("token", lease.ownerToken()));
        return renew.run(
                connection,
                query -> query.set("leases", rows.json()).set("lease", (int) length.toMillis()),
                answer -> unchanged(leases, names, answer));
    }

    private void set(Query query, List<Settlement> settlements, Names names) throws SQLException {
        JsonRows rows = new JsonRows(byCodePoint);
        for (Settlement settlement : settlements) {
            rows.row()
                    .set("id", names.sent(settlement.lease()))
                    .set("token", settlement.lease().ownerToken())
                    .set("verdict", SettlementValues.status(settlement))
                    .set(
                            "delay",
                            settlement.kind() == Kind.RETRY ? settlement.delay().toMillis() : null)
                    .text("error", SettlementValues.error(settlement))
                    .set("given_back", settlement.attemptsGivenBack())
                    .set("blocks", SettlementValues.blocksKey(settlement));
        }
        query.set("settlements", rows.json()).set("texts", rows.texts()).set("delete_done", deleteDone);
    }

    private static Unchanged unchanged(List<Lease> leases, Names names, ResultSet rows) throws SQLException {
        Set<Lease> lost = new HashSet<>(leases);
        Set<Lease> locked = new HashSet<>();
        while (rows.next()) {
            Lease lease = new Lease(names.given(rows.getString("id")), rows.getString("token"));
            if (lost.remove(lease) && rows.getInt("locked") == 1) {
                locked.add(lease);
            }
        }
        return new Unchanged(lost, locked);
    }
}
