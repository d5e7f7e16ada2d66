package dev.outbox.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * How full a table is, found out by statements that stay cheap however full it is. A table before phase 3 of its migration
 * counts nothing.
 *
 * @param ready items that wait, due or not; counted up to {@link #MOST}
 * @param processing items that are leased, to whatever poller; counted up to {@link #MOST}
 * @param dead items given up, and neither requeued nor discarded; counted up to {@link #MOST}
 * @param oldestDue for how long the oldest item that is due has been; empty if none is. Of items with a key, for those that
 *     were never attempted, only 10,000 are looked at
 */
public record Backlog(long ready, long processing, long dead, Optional<Duration> oldestDue) {
    /** Nothing is counted further than this. */
    public static final int MOST = 100_000;
}
