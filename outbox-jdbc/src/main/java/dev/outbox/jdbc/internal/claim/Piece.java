package dev.outbox.jdbc.internal.claim;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of a sweep of {@link QueueMarks}. */
final class Piece {
    private final long[] ends;
    private final long cost;

    /**
     * @param ends where it ends in each band, inclusive
     * @param cost how long it took, or is expected to take
     */
    Piece(long[] ends, long cost) {
        this.ends = ends;
        this.cost = cost;
    }

    long[] ends() {
        return ends;
    }

    long cost() {
        return cost;
    }

    /**
     * Where parts of it end that are as long as each other.
     *
     * @param before the piece after which it begins; null if it begins where the first row was taken
     * @param lowest where the first row was taken in each band
     * @param shortest pieces that are not longer are not cut
     * @return empty if the parts would be too short
     */
    List<long[]> parts(@Nullable Piece before, long[] lowest, int count, long shortest) {
        List<long[]> parts = new ArrayList<>();
        for (int part = 1; part <= count; part++) {
            parts.add(ends.clone());
        }
        boolean longEnough = false;
        for (int band = 0; band < ends.length; band++) {
            long start = before == null ? Long.MIN_VALUE : before.ends[band];
            start = Math.min(ends[band], Math.max(start, lowest[band]));
            long length = ends[band] - start;
            longEnough |= length > shortest;
            for (int part = 1; part < count; part++) {
                parts.get(part - 1)[band] = start + length / count * part;
            }
        }
        return longEnough ? parts : List.of();
    }
}
