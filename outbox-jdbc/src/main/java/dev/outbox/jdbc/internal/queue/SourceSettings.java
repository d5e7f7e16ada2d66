package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ack;
import dev.outbox.PayloadSerializer;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.jdbc.internal.claim.FreedKeys;
import dev.outbox.jdbc.internal.sql.Connections;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a source works with.
 *
 * @param connections of all sources of one outbox or inbox
 * @param ack what becomes of delivered rows
 * @param retention how long Done rows are kept
 * @param deadRetention how long Dead rows are kept; null means for ever
 * @param serializer for bodies; null if there is none
 * @param ticker a monotonic clock in nanoseconds
 * @param arrivals what this process has stored
 * @param freed what this source knows of keys; new for each source
 */
public record SourceSettings(
        Connections connections,
        Ack ack,
        Duration retention,
        @Nullable Duration deadRetention,
        @Nullable PayloadSerializer serializer,
        LongSupplier ticker,
        Arrivals arrivals,
        FreedKeys freed) {}
