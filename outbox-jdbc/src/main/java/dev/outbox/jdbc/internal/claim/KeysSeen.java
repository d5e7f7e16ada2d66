package dev.outbox.jdbc.internal.claim;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far one statement of a {@link KeyScan} came.
 *
 * @param full whether it found as many heads as it could take, and so may not have looked at everything
 * @param heads how many it found
 * @param arrivedTo by the code of the priority; empty, or null at a priority, if it looked at nothing there
 * @param arrivedMore by the code of the priority, whether there may be more after that; empty if it looked at nothing there
 * @param dueTo null if it looked at nothing there
 * @param passedBy known keys of which it saw rows
 */
public record KeysSeen(
        boolean full,
        int heads,
        List<@Nullable Long> arrivedTo,
        List<@Nullable Boolean> arrivedMore,
        @Nullable Instant dueTo,
        long dueSequenceTo,
        boolean dueMore,
        List<String> passedBy) {}
