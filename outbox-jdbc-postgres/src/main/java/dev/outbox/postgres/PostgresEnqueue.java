package dev.outbox.postgres;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.event.OutboxEvent;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.CallersTransaction;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores messages on the caller's connection, one round trip per call.
 *
 * <p>An id that is there already is no error: a unique violation would abort the caller's transaction, so
 * the insert does nothing for it and answers what it stored. That costs the server a third more, so messages
 * without an id of the caller's, which get a new one, are inserted plainly.
 *
 * <p>STRICT order: the locks are taken before the row's sequence is drawn, or a transaction that waited
 * would have drawn too early. INSERT … VALUES evaluates the identity column first; a locking WHERE, or a
 * FROM item that the insert reads, comes before it. The locks are {@link PostgresKeyLocks}.
 */
final class PostgresEnqueue {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresOutbox.class);

    private static final String INSERT = """
            INSERT INTO {table} ({work_item_id:}, {created_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:}, {blocks_key:},
                {topic:}, {message_key:}, {message_id:}, {correlation_id:}, {tenant_id:}, {content_type:}, {headers:},
                {payload:}, {payload_bytes:})
            VALUES ({work_item_id: :id}, {created_on: statement_timestamp()},
                {due_on: COALESCE(:due::timestamptz, statement_timestamp() + :due_in::bigint * interval '1 microsecond')},
                {status: 0}, {attempt_count: 0}, {priority: :priority}, {blocks_key: false}, {topic: :topic}, {message_key: :key},
                {message_id: :message_id}, {correlation_id: :correlation_id}, {tenant_id: :tenant_id},
                {content_type: :content_type}, {headers: :headers}, {payload: :payload}, {payload_bytes: :payload_bytes})
            """;

    private static final String INSERT_LOCKED = """
            INSERT INTO {table} ({work_item_id:}, {created_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:}, {blocks_key:},
                {topic:}, {message_key:}, {message_id:}, {correlation_id:}, {tenant_id:}, {content_type:}, {headers:},
                {payload:}, {payload_bytes:})
            SELECT {work_item_id: :id::uuid}, {created_on: statement_timestamp()},
                {due_on: COALESCE(:due::timestamptz, statement_timestamp() + :due_in::bigint * interval '1 microsecond')},
                {status: 0}, {attempt_count: 0}, {priority: :priority::smallint}, {blocks_key: false},
                {topic: :topic::text}, {message_key: :key::text}, {message_id: :message_id::text},
                {correlation_id: :correlation_id::text}, {tenant_id: :tenant_id::text},
                {content_type: :content_type::text}, {headers: :headers::text},
                {payload: :payload::text}, {payload_bytes: :payload_bytes::bytea}
            WHERE %s
            """.formatted(PostgresKeyLocks.TAKE_ONE);

    private static final String INSERT_MANY = """
            INSERT INTO {table} ({work_item_id:}, {created_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:}, {blocks_key:},
                {topic:}, {message_key:}, {message_id:}, {correlation_id:}, {tenant_id:}, {content_type:}, {headers:},
                {payload:}, {payload_bytes:})
            SELECT {work_item_id: m.id}, {created_on: statement_timestamp()},
                {due_on: COALESCE(m.due, statement_timestamp() + m.due_in * interval '1 microsecond')},
                {status: 0}, {attempt_count: 0}, {priority: COALESCE(m.priority, 1::smallint)}, {blocks_key: false},
                {topic: m.topic}, {message_key: m.message_key}, {message_id: m.message_id},
                {correlation_id: m.correlation_id}, {tenant_id: m.tenant_id}, {content_type: m.content_type},
                {headers: m.headers}, {payload: m.payload}, {payload_bytes: m.payload_bytes}
            FROM unnest(:ids::uuid[], :dues::timestamptz[], :due_ins::bigint[], :priorities::smallint[],
                    :topics::text[], :keys::text[], :message_ids::text[], :correlation_ids::text[],
                    :tenant_ids::text[], :content_types::text[], :headers::text[], :payloads::text[],
                    :payload_bytes::bytea[])
                AS m(id, due, due_in, priority, topic, message_key, message_id, correlation_id,
                    tenant_id, content_type, headers, payload, payload_bytes)
            """;

    /** The same where some have a key: they draw their sequences in the order given, after the locks. */
    private static final String INSERT_MANY_IN_ORDER = """
            INSERT INTO {table} ({work_item_id:}, {created_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:}, {blocks_key:},
                {topic:}, {message_key:}, {message_id:}, {correlation_id:}, {tenant_id:}, {content_type:}, {headers:},
                {payload:}, {payload_bytes:})
            SELECT {work_item_id: m.id}, {created_on: statement_timestamp()},
                {due_on: COALESCE(m.due, statement_timestamp() + m.due_in * interval '1 microsecond')},
                {status: 0}, {attempt_count: 0}, {priority: COALESCE(m.priority, 1::smallint)}, {blocks_key: false},
                {topic: m.topic}, {message_key: m.message_key}, {message_id: m.message_id},
                {correlation_id: m.correlation_id}, {tenant_id: m.tenant_id}, {content_type: m.content_type},
                {headers: m.headers}, {payload: m.payload}, {payload_bytes: m.payload_bytes}
            FROM (%s OFFSET 0) locks,
                unnest(:ids::uuid[], :dues::timestamptz[], :due_ins::bigint[], :priorities::smallint[],
                    :topics::text[], :keys::text[], :message_ids::text[], :correlation_ids::text[],
                    :tenant_ids::text[], :content_types::text[], :headers::text[], :payloads::text[],
                    :payload_bytes::bytea[])
                WITH ORDINALITY AS m(id, due, due_in, priority, topic, message_key, message_id, correlation_id,
                    tenant_id, content_type, headers, payload, payload_bytes, position)
            WHERE locks.taken
            ORDER BY m.position
            """.formatted(PostgresKeyLocks.TAKE_ALL);

    /** For ids that the caller gave. */
    private static final String ONCE = "ON CONFLICT ({work_item_id}) DO NOTHING RETURNING {work_item_id}";

    /** While a table is on its way, two unique indexes hold each id, and either may be the one that meets it. */
    private static final String ONCE_ON_ITS_WAY = "ON CONFLICT DO NOTHING RETURNING {work_item_id}";

    /**
     * A statement in two forms.
     *
     * @param fresh for ids that nobody has used
     * @param once for ids that may be there already; answers those it stored
     */
    private record Insert(Sql fresh, Sql once) {
        static Insert of(PostgresTable table, String statement) {
            String once = table.phase() == Phase.CLEAN ? ONCE : ONCE_ON_ITS_WAY;
            return new Insert(table.layout().resolve(statement), table.layout().resolve(statement + once));
        }
    }

    private final PostgresTable table;
    private final MessageRow.Rules rules;
    private final Emitter emitter;
    private final PostgresKeyLocks locks;
    private final Insert insert;
    private final Insert insertLocked;
    private final Insert insertMany;
    private final Insert insertManyInOrder;

    PostgresEnqueue(PostgresTable table, MessageRow.Rules rules, Emitter emitter) {
        this.table = table;
        this.rules = rules;
        this.emitter = emitter;
        this.locks = new PostgresKeyLocks(table.name());
        this.insert = Insert.of(table, INSERT);
        this.insertLocked = Insert.of(table, INSERT_LOCKED);
        this.insertMany = Insert.of(table, INSERT_MANY);
        this.insertManyInOrder = Insert.of(table, INSERT_MANY_IN_ORDER);
    }

    /** The message as it would be stored: encoded, and found to be fit for it. */
    Message prepare(Message message) {
        return row(message).message();
    }

    private MessageRow row(Message message) {
        MessageRow row = MessageRow.of(message, rules);
        table.check(row.message());
        return table.phase() == Phase.CLEAN ? row : row.withMessageId();
    }

    Enqueued one(Connection tx, Message message) {
        MessageRow row = row(message);
        CallersTransaction.check("enqueue", tx);
        return one(tx, row);
    }

    private Enqueued one(Connection tx, MessageRow row) {
        String key = rules.strict() ? row.message().key() : null;
        return insert(tx, List.of(row), key == null ? insert : insertLocked, query -> {
            if (key != null) {
                locks.set(query, key);
            }
            row.bind(query);
        });
    }

    Enqueued all(Connection tx, List<Message> messages) {
        List<MessageRow> rows = messages.stream().map(this::row).toList();
        CallersTransaction.check("enqueue", tx);
        if (rows.isEmpty()) {
            return new Enqueued(List.of(), List.of());
        }
        if (rows.size() == 1) {
            return one(tx, rows.get(0));
        }
        boolean keyed = rows.stream().anyMatch(row -> row.message().key() != null);
        return insert(tx, rows, keyed ? insertManyInOrder : insertMany, query -> {
            if (keyed) {
                locks.set(query, rows, rules.strict());
            }
            MessageRow.bindAll(query, rows);
        });
    }

    private interface Parameters {
        void set(Query query) throws SQLException;
    }

    private Enqueued insert(Connection tx, List<MessageRow> rows, Insert insert, Parameters parameters) {
        boolean fresh = rows.stream().allMatch(row -> row.message().id() == null);
        try (Query query = (fresh ? insert.fresh : insert.once).on(tx)) {
            parameters.set(query);
            if (!fresh) {
                return stored(rows, ids(query));
            }
            query.update();
            return stored(rows, List.of());
        } catch (SQLException e) {
            throw SqlFailure.of("enqueue into " + table.name() + " failed", e);
        }
    }

    private static Set<String> ids(Query query) throws SQLException {
        Set<String> stored = new HashSet<>();
        try (ResultSet ids = query.rows()) {
            while (ids.next()) {
                stored.add(ids.getString(1));
            }
        }
        return stored;
    }

    /** The first of several equal ids in one call is the one that was stored. */
    private Enqueued stored(List<MessageRow> rows, Set<String> ids) {
        List<MessageRow> stored = new ArrayList<>();
        List<String> alreadyThere = new ArrayList<>();
        for (MessageRow row : rows) {
            if (ids.remove(row.id().toString())) {
                stored.add(row);
            } else {
                alreadyThere.add(row.messageId());
            }
        }
        return stored(stored, alreadyThere);
    }

    private Enqueued stored(List<MessageRow> rows, List<String> alreadyThere) {
        rows.forEach(row -> row.warnIfLarge(rules, LOG));
        if (!rows.isEmpty()) {
            emitter.emit(() -> new OutboxEvent.Enqueued(
                    rows.stream().map(MessageRow::message).toList()));
        }
        return new Enqueued(rows.stream().map(MessageRow::messageId).toList(), alreadyThere);
    }
}
