package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.Hash;
import java.util.List;
import java.util.Objects;

/**
 * Which application locks STRICT order takes: one lock per bucket of keys, so that a call with many keys takes a bounded
 * number of them, one after the other. Part of the locking protocol between nodes: never change it in a rolling upgrade.
 */
final class KeyBuckets {
    private static final int BUCKETS = 1_024;

    private KeyBuckets() {}

    static int of(String key) {
        return (int) Hash.of(key) & BUCKETS - 1;
    }

    /** Those of all keys of these rows, each once. */
    static Integer[] of(List<MessageRow> rows) {
        return rows.stream()
                .map(row -> row.message().key())
                .filter(Objects::nonNull)
                .map(KeyBuckets::of)
                .distinct()
                .toArray(Integer[]::new);
    }
}
