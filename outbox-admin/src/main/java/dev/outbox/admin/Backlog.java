package dev.outbox.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * The backlog of a table, counted by statements that stay cheap however large it is. For a table before phase 3 of its
 * migration all figures are 0.
 *
 * @param ready items that wait, due or not; counted up to {@link #MOST}
 * @param processing items that a poller has leased; counted up to {@link #MOST}
 * @param dead items that were given up, and neither requeued nor discarded; counted up to {@link #MOST}
 * @param oldestDue for how long the oldest due item has been due; empty if none is. Of the items that have a key and
 *     were never attempted, only 10,000 are read
 */
public record Backlog(long ready, long processing, long dead, Optional<Duration> oldestDue) {
    /** The limit of each count. */
    public static final int MOST = 100_000;
}
