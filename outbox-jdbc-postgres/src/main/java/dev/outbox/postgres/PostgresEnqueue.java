package dev.outbox.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.enqueue.EnqueueStatements;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Stores messages on the caller's connection, one round trip per call.
 *
 * <p>An id that is there already is no error. A unique violation would abort the caller's transaction, so the insert does
 * nothing for such an id, and answers which rows it stored. That costs the server a third more. Messages to which the caller
 * gave no id get a new one, and are inserted plainly.
 *
 * <p>STRICT order: the locks are taken before the row's sequence is drawn; otherwise a transaction that waited would have
 * drawn too early. INSERT … VALUES evaluates the identity column first. A WHERE that takes the locks, or a FROM item that the
 * insert reads, is evaluated before it. The locks are {@link PostgresKeyLocks}.
 */
final class PostgresEnqueue implements EnqueueStatements {
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
            WHERE
            """ + PostgresKeyLocks.TAKE_ONE;

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

    /** The same for messages of which some have a key: rows draw their sequences in the order given, after the locks. */
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
            FROM (
            """ + PostgresKeyLocks.TAKE_ALL + """
             OFFSET 0) locks,
                unnest(:ids::uuid[], :dues::timestamptz[], :due_ins::bigint[], :priorities::smallint[],
                    :topics::text[], :keys::text[], :message_ids::text[], :correlation_ids::text[],
                    :tenant_ids::text[], :content_types::text[], :headers::text[], :payloads::text[],
                    :payload_bytes::bytea[])
                WITH ORDINALITY AS m(id, due, due_in, priority, topic, message_key, message_id, correlation_id,
                    tenant_id, content_type, headers, payload, payload_bytes, position)
            WHERE locks.taken
            ORDER BY m.position
            """;

    /** For ids that the caller gave. */
    private static final String ONCE = "ON CONFLICT ({work_item_id}) DO NOTHING RETURNING {work_item_id}";

    /** During a migration two unique indexes hold each id, and either of them may find the conflict. */
    private static final String ONCE_ON_ITS_WAY = "ON CONFLICT DO NOTHING RETURNING {work_item_id}";

    /**
     * A statement in two forms.
     *
     * @param fresh for new ids
     * @param once for ids that may be there already; answers the ids that it stored
     */
    private record Insert(Sql fresh, Sql once) {
        static Insert of(PostgresTable table, String statement) {
            String once = table.phase() == Phase.CLEAN ? ONCE : ONCE_ON_ITS_WAY;
            return new Insert(table.layout().resolve(statement), table.layout().resolve(statement + "\n" + once));
        }
    }

    private final PostgresTable table;
    private final boolean strict;
    private final PostgresKeyLocks locks;
    private final Insert insert;
    private final Insert insertLocked;
    private final Insert insertMany;
    private final Insert insertManyInOrder;

    /** @param strict whether it locks the keys of what it stores */
    PostgresEnqueue(PostgresTable table, boolean strict) {
        this.table = table;
        this.strict = strict;
        this.locks = new PostgresKeyLocks(table.name());
        this.insert = Insert.of(table, INSERT);
        this.insertLocked = Insert.of(table, INSERT_LOCKED);
        this.insertMany = Insert.of(table, INSERT_MANY);
        this.insertManyInOrder = Insert.of(table, INSERT_MANY_IN_ORDER);
    }

    @Override
    public MessageRow fit(MessageRow row) {
        table.check(row.message());
        return table.phase() == Phase.CLEAN ? row : row.withMessageId();
    }

    @Override
    public Set<UUID> insert(Connection tx, List<MessageRow> rows) throws SQLException {
        return rows.size() == 1 ? insertOne(tx, rows) : insertMany(tx, rows);
    }

    private Set<UUID> insertOne(Connection tx, List<MessageRow> rows) throws SQLException {
        MessageRow row = rows.get(0);
        String key = strict ? row.message().key() : null;
        return insert(tx, rows, key == null ? insert : insertLocked, query -> {
            if (key != null) {
                locks.set(query, key);
            }
            row.bind(query);
        });
    }

    private Set<UUID> insertMany(Connection tx, List<MessageRow> rows) throws SQLException {
        boolean keyed = rows.stream().anyMatch(row -> row.message().key() != null);
        return insert(tx, rows, keyed ? insertManyInOrder : insertMany, query -> {
            if (keyed) {
                locks.set(query, rows, strict);
            }
            MessageRow.bindAll(query, rows);
        });
    }

    private interface Parameters {
        void set(Query query) throws SQLException;
    }

    private static Set<UUID> insert(Connection tx, List<MessageRow> rows, Insert insert, Parameters parameters)
            throws SQLException {
        boolean fresh = rows.stream().allMatch(row -> row.message().id() == null);
        try (Query query = (fresh ? insert.fresh : insert.once).on(tx)) {
            parameters.set(query);
            if (!fresh) {
                return ids(query);
            }
            query.update();
            return rows.stream().map(MessageRow::id).collect(Collectors.toCollection(HashSet::new));
        }
    }

    private static Set<UUID> ids(Query query) throws SQLException {
        Set<UUID> stored = new HashSet<>();
        try (ResultSet ids = query.rows()) {
            while (ids.next()) {
                stored.add(UUID.fromString(ids.getString(1)));
            }
        }
        return stored;
    }
}
