package dev.outbox.jdbc.internal;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which advisory locks STRICT order takes. One lock per bucket of keys, because the server's lock table is small
 * and shared by everybody. Part of the locking protocol between nodes: never change it in a rolling upgrade.
 */
public final class KeyBuckets {
    private static final int BUCKETS = 1_024;

    private KeyBuckets() {}

    public static int of(@Nullable String key) {
        int hash = Objects.hashCode(key);
        return (hash ^ hash >>> 16) & BUCKETS - 1;
    }

    /** Those of all keys of these rows, each once. */
    public static Integer[] of(List<MessageRow> rows) {
        return rows.stream()
                .map(row -> row.message().key())
                .filter(Objects::nonNull)
                .map(KeyBuckets::of)
                .distinct()
                .toArray(Integer[]::new);
    }
}
