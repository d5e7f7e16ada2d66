package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Capability;
import dev.outbox.jdbc.internal.inbox.Arrival;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.inbox.Known;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * Receives messages while a migration of the inbox table is under way.
 *
 * <p>The key changes in the middle of the migration, from the message id alone to (consumer, source, message id). An insert
 * that names the key it expects would fail in the caller's transaction at the moment of the change. While both keys exist, a
 * violation of the one that the insert does not name is an error too. So the insert names no key and does nothing for a
 * message that is known; a second statement counts those. Both statements wait for concurrent arrivals of the same message,
 * as {@link PostgresReceive} does.
 *
 * <p>An old application leaves a row without a topic when a message arrives, and finishes it later. Such a row means
 * "arrived, not processed", and the next arrival is the first again: the row is removed and stored again.
 */
final class PostgresDualReceive implements PostgresReceive.Taking {
    /** Restores the lock timeout of the caller. */
    private static final String RESTORE =
            "SELECT set_config('lock_timeout', current_setting('outbox.lock_timeout'), true)";

    private static final String IF_NEW = """
            ON CONFLICT DO NOTHING
            RETURNING {source} AS source, {message_id} AS message_id, 1 AS receipt_count,
                {first_seen_on} AS first_seen_on, {last_seen_on} AS last_seen_on, {hash} AS hash""";

    private static final String FORGET = """
            DELETE FROM {table}
            WHERE {mine} AND {message_id} = ANY (:message_ids::text[]) AND {topic} IS NULL AND {status} < 2
              AND ({source}, {message_id}) IN (SELECT * FROM unnest(:sources::text[], :message_ids::text[]))
            """;

    /** A table that does not count receipts yet knows only that the message was there. */
    private static final String COUNT = """
            UPDATE {table} t SET
                {receipt_count = CASE WHEN t.{hash} <> m.hash THEN t.{receipt_count}
                    ELSE LEAST(t.{receipt_count}, 2147483646) + 1 END},
                {last_seen_on = CASE WHEN t.{hash} <> m.hash THEN t.{last_seen_on}
                    ELSE GREATEST(t.{last_seen_on}, statement_timestamp()) END}
            FROM unnest(:sources::text[], :message_ids::text[], :hashes::bytea[]) AS m(source, message_id, hash)
            WHERE {mine} AND t.{message_id} = ANY (:message_ids::text[])
              AND t.{source} = m.source AND t.{message_id} = m.message_id
            RETURNING t.{source} AS source, t.{message_id} AS message_id,
                CASE WHEN t.{hash} <> m.hash THEN t.{receipt_count} ELSE GREATEST(t.{receipt_count}, 2) END
                    AS receipt_count,
                t.{first_seen_on} AS first_seen_on, t.{last_seen_on} AS last_seen_on, t.{hash} AS hash
            """;

    private final PostgresTable table;
    private final String lockTimeout;
    private final Sql insert;
    private final Sql count;

    /** @param statement of {@link PostgresReceive}, that inserts: its RECORD or STORE */
    PostgresDualReceive(PostgresTable table, String statement, String lockTimeout) {
        this.table = table;
        this.lockTimeout = lockTimeout;
        this.insert = all(statement + IF_NEW, RESTORE);
        this.count = all("SELECT " + PostgresReceive.SHORTENED, FORGET, COUNT, RESTORE);
    }

    private Sql all(String... statements) {
        return table.layout().resolve(String.join(";\n", statements));
    }

    @Override
    public Map<Identity, Known> take(Connection tx, List<Arrival> sent, PostgresReceive.Parameters parameters)
            throws SQLException {
        Map<Identity, Known> known = insert(tx, sent, parameters);
        if (known.size() < sent.size()) {
            known.putAll(count(tx, without(known, sent)));
        }
        if (known.size() < sent.size()) {
            known.putAll(insert(tx, sent, parameters));
        }
        without(known, sent).stream().map(Arrival::identity).findFirst().ifPresent(this::refuse);
        return known;
    }

    private static List<Arrival> without(Map<Identity, Known> known, List<Arrival> sent) {
        return sent.stream()
                .filter(arrival -> !known.containsKey(arrival.identity()))
                .toList();
    }

    private Map<Identity, Known> insert(Connection tx, List<Arrival> sent, PostgresReceive.Parameters parameters)
            throws SQLException {
        try (Query query = insert.on(tx).set("lock_timeout", lockTimeout)) {
            parameters.set(query);
            query.execute();
            return PostgresReceive.read(query.nextRows(), sent);
        }
    }

    private Map<Identity, Known> count(Connection tx, List<Arrival> others) throws SQLException {
        Object[] messageIds =
                others.stream().map(arrival -> arrival.identity().messageId()).toArray();
        try (Query query = FreshPlan.of(count, tx).set("lock_timeout", lockTimeout)) {
            query.setArray("sources", "text", PostgresReceive.sources(others))
                    .setArray("message_ids", "text", messageIds)
                    .setArray("hashes", "bytea", PostgresReceive.hashes(others))
                    .execute();
            query.nextRows().close();
            return PostgresReceive.read(query.nextRows(), others);
        }
    }

    /** Neither stored nor counted: another row has its message id. */
    private void refuse(Identity identity) {
        if (table.phase().before(Phase.FLIPPED)) {
            throw table.capabilities().refusal(Capability.MANY_SOURCES, table.name(), table.phase());
        }
        throw new OutboxException("message " + identity.messageId() + " from " + identity.source()
                + " was removed from \"" + table.name() + "\" while it came again; roll back and try again");
    }
}
