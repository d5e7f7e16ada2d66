package dev.outbox.jdbc.internal.claim;

import dev.outbox.jdbc.internal.claim.QueueMarks.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;

/** A queue whose statements take some time for each entry that they walk, and the marks that shorten its claims. */
final class SlowQueue {
    static final int HIGH = 0;
    static final int NORMAL = 1;
    static final int COUNT = 10;

    final AtomicLong time = new AtomicLong();
    final QueueMarks marks = new QueueMarks(time::get, 1_000);

    /** Index entries by band, of rows that are alive or dead; vacuum removes none. */
    final List<NavigableSet<Long>> entries = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());

    final List<NavigableSet<Long>> alive = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());

    Duration perEntry = Duration.ofNanos(1_000);

    /** A statement that takes longer fails. */
    Duration timeout = Duration.ofDays(1);

    int failed;

    /** Entries that statements have walked. */
    long walked;

    /** What the statements since the last look did: the first and last places, in the band of normal rows. */
    final List<String> statements = new ArrayList<>();

    void put(int band, long from, long to) {
        for (long at = from; at <= to; at++) {
            entries.get(band).add(at);
            alive.get(band).add(at);
        }
    }

    /** Rows that were taken; their entries stay. */
    void passed(int band, long to) {
        passed(band, 1, to);
    }

    void passed(int band, long from, long to) {
        marks.begin();
        for (long at = from; at <= to; at++) {
            entries.get(band).add(at);
        }
        marks.took(band, new Position(from, 0));
        marks.took(band, new Position(to, 0));
        marks.end(true, new Position[QueueMarks.BANDS]);
        statements.clear();
    }

    void pass(Duration step) {
        time.addAndGet(step.toNanos());
    }

    void run(Duration length) {
        for (long end = time.get() + length.toNanos(); time.get() < end; pass(Duration.ofMillis(200))) {
            claim();
        }
    }

    /** As {@link LowWaterMarks#walk} does it. */
    List<Long> claim() {
        List<Long> taken;
        do {
            marks.begin();
            Position[] from = marks.from();
            long[] to = marks.to();
            statements.add(name(from[NORMAL].at()) + ".." + name(to[NORMAL]));
            taken = statement(from, to);
            if (taken == null) {
                failed++;
                marks.failed();
                return List.of();
            }
            marks.end(taken.size() < COUNT, new Position[QueueMarks.BANDS]);
        } while (taken.isEmpty() && marks.goesOn());
        return taken;
    }

    private static String name(long at) {
        return at == Long.MIN_VALUE ? "start" : at == Long.MAX_VALUE ? "end" : String.valueOf(at);
    }

    /** What it took, band by band; null if it took too long. */
    private List<Long> statement(Position[] from, long[] to) {
        List<Long> taken = new ArrayList<>();
        long walks = 0;
        for (int band = 0; band < QueueMarks.BANDS; band++) {
            for (long at :
                    entries.get(band).subSet(from[band].at(), false, Math.max(from[band].at(), to[band]), true)) {
                if (taken.size() == COUNT) {
                    break;
                }
                walks++;
                if (alive.get(band).contains(at)) {
                    taken.add(at);
                }
            }
        }
        long cost = walks * perEntry.toNanos();
        if (cost > timeout.toNanos()) {
            time.addAndGet(timeout.toNanos());
            return null;
        }
        walked += walks;
        time.addAndGet(cost);
        for (int band = 0; band < QueueMarks.BANDS; band++) {
            for (long at : taken) {
                if (alive.get(band).remove(at)) {
                    marks.took(band, new Position(at, 0));
                }
            }
        }
        return taken;
    }
}
