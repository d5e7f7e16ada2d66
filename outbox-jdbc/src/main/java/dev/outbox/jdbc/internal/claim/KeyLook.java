package dev.outbox.jdbc.internal.claim;

import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What one statement of a {@link KeyScan} looks at.
 *
 * @param places in this order
 * @param known what has arrived of these keys is passed by: they are freed or in flight
 * @param arrivedAfter by the code of the priority
 * @param arrivedUpTo by the code of the priority
 * @param firstBand the code of the priority of which one row comes first
 * @param stretch how many rows of each kind to look at
 * @param heads the most keys to take
 * @param longestRun the most rows to take of each, if there are that many keys
 */
public record KeyLook(
        List<KeyScan.Place> places,
        List<FreedKeys.Hint> freed,
        Set<String> known,
        List<Long> arrivedAfter,
        List<Long> arrivedUpTo,
        int firstBand,
        Instant dueAfter,
        long dueSequence,
        Instant dueUpTo,
        int stretch,
        int heads,
        int longestRun) {}
