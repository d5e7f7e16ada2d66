package dev.outbox.admin;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Selects dead letters: all, or those that meet every given condition. Immutable: each method returns a copy.
 *
 * @param kind only those of this table; null means both tables
 * @param error text that the last error contains, case-insensitively
 * @param olderThan how long they must have been Dead
 */
public record DeadFilter(
        @Nullable TableKind kind,
        @Nullable String topic,
        @Nullable String key,
        @Nullable String tenant,
        @Nullable String error,
        @Nullable Duration olderThan) {
    private static final int MAX_TEXT = 2_000;

    public DeadFilter {
        Require.optionalText("topic", topic, MAX_TEXT);
        Require.optionalText("key", key, MAX_TEXT);
        Require.optionalText("tenant", tenant, MAX_TEXT);
        Require.optionalText("error", error, MAX_TEXT);
        if (olderThan != null) {
            Require.notNegative("olderThan", olderThan);
        }
    }

    /** Every dead letter. */
    public static DeadFilter all() {
        return new DeadFilter(null, null, null, null, null, null);
    }

    /** Only those of this table. */
    public DeadFilter in(TableKind kind) {
        return new DeadFilter(Require.present("kind", kind), topic, key, tenant, error, olderThan);
    }

    /** Only those of this topic. */
    public DeadFilter topic(String topic) {
        return new DeadFilter(kind, Require.present("topic", topic), key, tenant, error, olderThan);
    }

    /** Only those of this key. */
    public DeadFilter key(String key) {
        return new DeadFilter(kind, topic, Require.present("key", key), tenant, error, olderThan);
    }

    /** Only those of this tenant. */
    public DeadFilter tenant(String tenant) {
        return new DeadFilter(kind, topic, key, Require.present("tenant", tenant), error, olderThan);
    }

    /** Only those whose last error contains this text, case-insensitively. */
    public DeadFilter error(String error) {
        return new DeadFilter(kind, topic, key, tenant, Require.present("error", error), olderThan);
    }

    /** Only those that have been Dead for longer than this. */
    public DeadFilter olderThan(Duration olderThan) {
        return new DeadFilter(kind, topic, key, tenant, error, Require.present("olderThan", olderThan));
    }
}
