package dev.outbox.jdbc.internal.claim;

/**
 * A place on the queue.
 *
 * @param at a sequence number, or a due time
 * @param tie among rows of one due time, the sequence number
 */
record Position(long at, long tie) implements Comparable<Position> {
    static final Position START = new Position(Long.MIN_VALUE, Long.MIN_VALUE);
    static final Position END = new Position(Long.MAX_VALUE, Long.MAX_VALUE);

    /** After all rows of this place. */
    static Position after(long at) {
        return new Position(at, Long.MAX_VALUE);
    }

    Position max(Position other) {
        return compareTo(other) < 0 ? other : this;
    }

    Position min(Position other) {
        return compareTo(other) < 0 ? this : other;
    }

    @Override
    public int compareTo(Position other) {
        return at != other.at ? Long.compare(at, other.at) : Long.compare(tie, other.tie);
    }
}
