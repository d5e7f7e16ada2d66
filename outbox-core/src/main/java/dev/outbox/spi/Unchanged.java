package dev.outbox.spi;

import java.util.HashSet;
import java.util.Set;

/**
 * The leases for which a settle or a renewal changed nothing.
 *
 * @param lost another worker owns the item, or it is finished: the call was fenced, and repeating it cannot help
 * @param locked the lease is still held, but another transaction has locked the item's row; the call may be repeated
 */
public record Unchanged(Set<Lease> lost, Set<Lease> locked) {
    /** Every lease was changed. */
    public static final Unchanged NONE = new Unchanged(Set.of(), Set.of());

    public Unchanged {
        lost = Set.copyOf(lost);
        locked = Set.copyOf(locked);
    }

    /**
     * These leases are lost and none is locked: for a source whose rows no other transaction locks, or that waits for
     * such locks.
     */
    public static Unchanged lost(Set<Lease> lost) {
        return new Unchanged(lost, Set.of());
    }

    /** The leases of both results. */
    public Unchanged and(Unchanged other) {
        Set<Lease> bothLost = new HashSet<>(lost);
        bothLost.addAll(other.lost);
        Set<Lease> bothLocked = new HashSet<>(locked);
        bothLocked.addAll(other.locked);
        return new Unchanged(bothLost, bothLocked);
    }

    /** Whether every lease was changed. */
    public boolean isEmpty() {
        return lost.isEmpty() && locked.isEmpty();
    }
}
