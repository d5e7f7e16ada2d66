package dev.outbox.jdbc.internal.postgres;

import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.Hash;

/**
 * The numbers of the advisory locks of STRICT order on PostgreSQL. A number is a hash of the schema, the table and the key, so
 * all processes that order the messages of a key use the same number without asking. The PostgreSQL module says what the
 * locks are for, and in which order a transaction takes them.
 */
public final class KeyLocks {
    /**
     * The most keys that one transaction locks. A default server has room for some 10,000 locks (64 for each of 100
     * connections, and a reserve). So about forty transactions may hold this many at a time.
     */
    public static final int MOST = 250;

    private final String space;
    private final long entering;
    private final long holding;

    /** @param table with its schema */
    public KeyLocks(TableName table) {
        this.space = table + " key ";
        this.entering = Hash.of(table + " entering");
        this.holding = Hash.of(table + " holding");
    }

    /** Taken before the locks of keys. */
    public long entering() {
        return entering;
    }

    /** Taken after the locks of keys. */
    public long holding() {
        return holding;
    }

    public long of(String key) {
        return Hash.of(space + key);
    }
}
