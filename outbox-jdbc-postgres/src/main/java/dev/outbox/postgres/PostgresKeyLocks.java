package dev.outbox.postgres;

import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.postgres.KeyLocks;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * The advisory locks of STRICT order: one per key, held to the end of the caller's transaction.
 *
 * <p><b>Names.</b> A lock is a number of 64 bits, a hash of the schema, the table and the key. So nodes agree on it
 * without asking, and a table that was restored or created again has the same locks as before.
 *
 * <p><b>Bound.</b> The server's lock table is small and shared by all sessions, so a transaction takes the locks of at
 * most {@value #MOST} keys. One that needs more locks all keys of the table at once. For that, two more locks go with
 * every key: <i>entering</i> is taken in shared mode before the locks of keys, <i>holding</i> after them. A call that is
 * too large for the bound takes <i>entering</i> exclusively: it waits for all transactions with keys of this table, and it
 * holds nothing while it waits. A transaction whose calls add up to more has <i>entering</i> in shared mode, and so have
 * those that wait for one of its keys: to take it exclusively would be a deadlock. So it takes <i>holding</i> exclusively,
 * which those do not have yet.
 *
 * <p><b>Order.</b> A call takes its locks in the order of their numbers, so transactions with one call each cannot
 * deadlock. With several calls they can, as with any locks; two that both exceed the bound by several calls always do.
 *
 * <p><b>Memory.</b> The transaction remembers the keys it has locked, of all tables, in a setting of its own. The setting
 * ends with the transaction, and a rollback to a savepoint takes it back together with the locks.
 *
 * <p>Both expressions belong where an insert evaluates them before it draws sequences: in WHERE, or in a FROM item that it reads.
 */
final class PostgresKeyLocks {
    static final int MOST = KeyLocks.MOST;

    /** A separator and 16 digits. */
    private static final int MARK_LENGTH = 17;

    /** How long the setting is when a transaction has the locks of {@link #MOST} keys. */
    private static final int FULL = MOST * MARK_LENGTH;

    /** Takes the lock of one key. */
    static final String TAKE_ONE = """
            CASE
                WHEN strpos(current_setting('outbox.locks', true), :mark) > 0 THEN true
                WHEN octet_length(current_setting('outbox.locks', true)) >=
            """ + FULL + """
             THEN
                    pg_advisory_xact_lock_shared(:entering) IS NOT NULL
                    AND pg_advisory_xact_lock(:holding) IS NOT NULL
                ELSE
                    pg_advisory_xact_lock_shared(:entering) IS NOT NULL
                    AND pg_advisory_xact_lock(:lock) IS NOT NULL
                    AND pg_advisory_xact_lock_shared(:holding) IS NOT NULL
                    AND set_config('outbox.locks', concat(current_setting('outbox.locks', true), :mark), true) IS NOT NULL
            END""";

    /** Takes the locks of many keys; true when it has them, also if there are none. */
    static final String TAKE_ALL = """
            SELECT CASE
                WHEN wanted = '' THEN true
                WHEN octet_length(held) + octet_length(wanted) <=
            """ + FULL + """
             THEN
                    pg_advisory_xact_lock_shared(:entering) IS NOT NULL
                    AND (SELECT count(pg_advisory_xact_lock(lock)) FROM unnest(:locks::bigint[]) lock) > 0
                    AND pg_advisory_xact_lock_shared(:holding) IS NOT NULL
                    AND set_config('outbox.locks', held || wanted, true) IS NOT NULL
                WHEN held = '' THEN
                    pg_advisory_xact_lock(:entering) IS NOT NULL
                ELSE
                    pg_advisory_xact_lock_shared(:entering) IS NOT NULL
                    AND pg_advisory_xact_lock(:holding) IS NOT NULL
                END AS taken
            FROM (
                SELECT held, (
                    SELECT COALESCE(string_agg(mark, ''), '') FROM unnest(:marks::text[]) mark
                    WHERE strpos(held, mark) = 0) AS wanted
                FROM (SELECT COALESCE(current_setting('outbox.locks', true), '') AS held OFFSET 0) before
                OFFSET 0) asked""";

    private final KeyLocks numbers;

    /** @param table with its schema */
    PostgresKeyLocks(TableName table) {
        this.numbers = new KeyLocks(table);
    }

    void set(Query query, String key) throws SQLException {
        long lock = numbers.of(key);
        query.set("entering", numbers.entering())
                .set("holding", numbers.holding())
                .set("lock", lock)
                .set("mark", mark(lock));
    }

    /** @param strict whether the keys of these rows are locked */
    void set(Query query, List<MessageRow> rows, boolean strict) throws SQLException {
        long[] locks = strict
                ? rows.stream()
                        .map(row -> row.message().key())
                        .filter(Objects::nonNull)
                        .mapToLong(numbers::of)
                        .distinct()
                        .sorted()
                        .toArray()
                : new long[0];
        Object[] sorted = new Object[locks.length];
        Object[] marks = new Object[locks.length];
        for (int i = 0; i < locks.length; i++) {
            sorted[i] = locks[i];
            marks[i] = mark(locks[i]);
        }
        query.set("entering", numbers.entering())
                .set("holding", numbers.holding())
                .setArray("locks", "int8", sorted)
                .setArray("marks", "text", marks);
    }

    private static String mark(long lock) {
        return "," + HexFormat.of().toHexDigits(lock);
    }
}
