package dev.outbox.torture;

import dev.outbox.migrations.OutboxMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * The tables of one turn. Beside outbox and inbox: what the producers' business writes ({@code orders}), what the
 * consumers' business writes ({@code effects}), what an operator has mended ({@code mended}), and an {@code audit} of
 * every change of a work item, in the order in which the database made them, written by triggers.
 *
 * @param turn its number
 */
record Tables(int turn) {
    private static final String BUSINESS = """
            CREATE TABLE orders_%1$d (tx text PRIMARY KEY);
            CREATE TABLE effects_%1$d (place bigserial, message_id text NOT NULL, altered boolean NOT NULL);
            CREATE TABLE mended_%1$d (message_id text PRIMARY KEY);
            CREATE TABLE counters_%1$d (id int PRIMARY KEY, value bigint NOT NULL);
            INSERT INTO counters_%1$d SELECT id, 0 FROM generate_series(0, 3) id;
            """;

    /** The outbox as it was before there was a canonical layout, in names that the harness can read all the way. */
    private static final String LEGACY_OUTBOX = """
            CREATE TABLE outbox_%1$d (
                id uuid PRIMARY KEY DEFAULT gen_random_uuid(), message_id text NOT NULL,
                topic text NOT NULL, payload text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
                is_processed boolean NOT NULL DEFAULT false, processed_at timestamptz, processed_by text,
                retry_count int NOT NULL DEFAULT 0, last_error text, correlation_id text, due_time_utc timestamptz,
                status smallint NOT NULL DEFAULT 0, locked_until timestamptz, owner_token uuid);
            CREATE INDEX outbox_%1$d_queue ON outbox_%1$d (status, created_at) WHERE status = 0;
            """;

    private static final String AUDIT = """
            CREATE TABLE audit_%1$d (
                place bigserial, xact xid8 NOT NULL DEFAULT pg_current_xact_id(), queue text NOT NULL,
                began timestamptz NOT NULL DEFAULT now(), made timestamptz NOT NULL DEFAULT clock_timestamp(),
                item uuid NOT NULL, sequence bigint NOT NULL, key text,
                old_status smallint, new_status smallint NOT NULL,
                old_token uuid, new_token uuid, old_attempts int, new_attempts int NOT NULL,
                expired boolean NOT NULL, early boolean NOT NULL, due timestamptz);
            """;

    /** An expiry is "early" if the lease it ended had not run out by the database's clock. */
    private static final String TRIGGERS = """
            CREATE FUNCTION audit_%1$d_%2$s_insert() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO audit_%1$d (queue, item, sequence, key, new_status, new_attempts, expired, early, due)
                SELECT '%2$s', work_item_id, sequence, message_key, status, attempt_count, false, false, due_on
                FROM %3$s f WHERE topic IS NOT NULL ORDER BY sequence;
                RETURN NULL;
            END $$;
            CREATE FUNCTION audit_%1$d_%2$s_update() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO audit_%1$d (queue, item, sequence, key, old_status, new_status, old_token, new_token,
                    old_attempts, new_attempts, expired, early, due)
                SELECT '%2$s', f.work_item_id, f.sequence, f.message_key, s.status, f.status, s.owner_token,
                    f.owner_token, s.attempt_count, f.attempt_count,
                    e.expired, e.expired AND s.locked_until > clock_timestamp(), f.due_on
                FROM %3$s f JOIN %4$s s USING (work_item_id) CROSS JOIN LATERAL (
                    SELECT s.status = 1 AND f.status <> 1 AND f.last_error IS DISTINCT FROM s.last_error
                        AND COALESCE(f.last_error LIKE 'lease expired%%', false) AS expired) e
                WHERE f.topic IS NOT NULL
                  AND (f.status <> s.status OR f.owner_token IS DISTINCT FROM s.owner_token)
                ORDER BY f.sequence;
                RETURN NULL;
            END $$;
            CREATE TRIGGER audit_insert AFTER INSERT ON %2$s_%1$d REFERENCING NEW TABLE AS fresh
                FOR EACH STATEMENT EXECUTE FUNCTION audit_%1$d_%2$s_insert();
            CREATE TRIGGER audit_update AFTER UPDATE ON %2$s_%1$d REFERENCING OLD TABLE AS stale NEW TABLE AS fresh
                FOR EACH STATEMENT EXECUTE FUNCTION audit_%1$d_%2$s_update();
            """;

    /** The rows of a table whose columns come and go, as if it had always been canonical. */
    private static final String WHATEVER_THE_COLUMNS = """
            (SELECT COALESCE(r ->> 'work_item_id', r ->> 'id')::uuid AS work_item_id,
                COALESCE((r ->> 'sequence')::bigint, 0) AS sequence, r ->> 'message_key' AS message_key,
                r ->> 'topic' AS topic, (r ->> 'status')::smallint AS status,
                COALESCE(r ->> 'attempt_count', r ->> 'retry_count')::int AS attempt_count,
                (r ->> 'owner_token')::uuid AS owner_token, (r ->> 'locked_until')::timestamptz AS locked_until,
                r ->> 'last_error' AS last_error,
                COALESCE(r ->> 'due_on', r ->> 'due_time_utc')::timestamptz AS due_on
             FROM (SELECT to_jsonb(t) AS r FROM %s t) every_row)""";

    private static final String DROP = """
            DROP TABLE outbox_%1$d, inbox_%1$d, orders_%1$d, effects_%1$d, mended_%1$d, counters_%1$d, audit_%1$d;
            DROP FUNCTION audit_%1$d_outbox_insert(), audit_%1$d_outbox_update(), audit_%1$d_inbox_insert(),
                audit_%1$d_inbox_update();
            """;

    String outbox() {
        return "outbox_" + turn;
    }

    String inbox() {
        return "inbox_" + turn;
    }

    String orders() {
        return "orders_" + turn;
    }

    String effects() {
        return "effects_" + turn;
    }

    String mended() {
        return "mended_" + turn;
    }

    String counters() {
        return "counters_" + turn;
    }

    String audit() {
        return "audit_" + turn;
    }

    /** @param legacy whether the outbox has still to be migrated */
    void create(DataSource dataSource, boolean legacy) {
        if (legacy) {
            execute(dataSource, LEGACY_OUTBOX.formatted(turn));
        } else {
            OutboxMigrations.install(dataSource, outbox());
        }
        OutboxMigrations.installInbox(dataSource, inbox());
        execute(dataSource, BUSINESS.formatted(turn));
        execute(dataSource, AUDIT.formatted(turn));
        execute(
                dataSource,
                TRIGGERS.formatted(
                        turn,
                        "outbox",
                        legacy ? WHATEVER_THE_COLUMNS.formatted("fresh") : "fresh",
                        legacy ? WHATEVER_THE_COLUMNS.formatted("stale") : "stale"));
        execute(dataSource, TRIGGERS.formatted(turn, "inbox", "fresh", "stale"));
    }

    void drop(DataSource dataSource) {
        execute(dataSource, DROP.formatted(turn));
    }

    private static void execute(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed", e);
        }
    }
}
