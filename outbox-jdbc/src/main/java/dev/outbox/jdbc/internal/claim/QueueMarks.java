package dev.outbox.jdbc.internal.claim;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How far one source has come on one queue, by priority, and its sweeps of what lies below.
 *
 * <p><b>Marks.</b> A claim begins after the last row taken. A mark only moves forward, whatever happens to a claim.
 *
 * <p><b>Sweeps.</b> Rows that commit late, below the marks, are found by a second cursor that goes from the start to the marks,
 * once a second. It goes in pieces, each a claim of its own with an upper bound, because no limit on rows bounds the dead index
 * entries that a statement walks. The pieces of a sweep are those of the sweep before: cheap neighbours are joined, and one that
 * was slow or failed is cut into parts. So the pieces follow wherever the dead entries are. Usually all of them together are cheap: then
 * the sweep is a single piece, and the claim from the marks is part of it.
 *
 * <p><b>Pace.</b> Sweeps that find nothing take about a twentieth of the time. A sweep that takes longer than a twentieth of half a minute gets
 * as much more time as it needs to be through in half a minute. Between its pieces, claims go on from the marks.
 *
 * <p>Not thread-safe.
 */
final class QueueMarks {
    static final int BANDS = 3;

    private static final long SWEEP_EVERY = Duration.ofSeconds(1).toNanos();
    private static final long SWEEP_AT_LEAST_EVERY = Duration.ofSeconds(30).toNanos();

    /** A sweep takes one part in so many of the time. */
    private static final int SHARE = 20;

    /** The most time between two visits of a sweep that is not through. */
    private static final long LONGEST_PAUSE = Duration.ofSeconds(1).toNanos();

    /** How long a piece may take, unless pieces have failed sooner. */
    private static final long PATIENCE = Duration.ofMillis(10).toNanos();

    /** And however soon they failed. */
    private static final long LEAST_PATIENCE = Duration.ofMillis(1).toNanos();

    /** Into how many parts a piece is cut that has failed; who knows how much longer it would have taken. */
    private static final int PARTS = 16;

    /** If so many pieces are ahead, one that has failed is not cut any more. */
    private static final int MOST_PIECES = 1_000;

    /** How long the pieces of one claim may take together. */
    private static final long VISIT = Duration.ofMillis(25).toNanos();

    private final LongSupplier ticker;

    /** Pieces that are not longer are not cut. */
    private final long shortest;

    private final Position[] marks = new Position[BANDS];

    /** The lowest place where a row was taken; no dead entries of ours are below. */
    private final long[] lowest = new long[BANDS];

    private boolean sweeping;
    private final Position[] cursor = new Position[BANDS];

    /** What this sweep has not walked yet. */
    private final Deque<Piece> ahead = new ArrayDeque<>();

    /** What it has walked; between sweeps, the pieces of the last one. */
    private final List<Piece> walked = new ArrayList<>();

    private long began;
    private long cost;
    private long costBefore;
    private long patience = PATIENCE;

    /** The pieces of this claim so far. */
    private long spent;

    private long pausedAt;
    private long pause;

    /** The piece that the present claim walks, or the last claim walked; null if that began at the marks. */
    private @Nullable Piece piece;

    /** What was spent on this piece by claims that did not reach its end. */
    private long pieceCost;

    /** Whether the last piece goes on beyond the marks. */
    private boolean open;

    /** Whether this claim may walk one more piece. */
    private boolean visiting;

    /** Whether this statement has taken rows: then it was a claim like others, and its time is not that of a sweep. */
    private boolean foundSome;

    /** Whether the last piece left rows behind. */
    private boolean full;

    /** Whether the last claim beyond the marks had room for more. */
    private boolean room = true;

    private long asked;

    QueueMarks(LongSupplier ticker, long shortest) {
        this.ticker = ticker;
        this.shortest = shortest;
        this.began = ticker.getAsLong();
        Arrays.fill(marks, Position.START);
        Arrays.fill(lowest, Long.MAX_VALUE);
        Arrays.fill(cursor, Position.END);
    }

    /** A claim that asked for the same rows, and maybe for others, has come so far: so has this one. */
    void startFrom(QueueMarks other) {
        for (int band = 0; band < BANDS; band++) {
            marks[band] = marks[band].max(other.marks[band]);
            lowest[band] = Math.min(lowest[band], other.lowest[band]);
        }
        if (!sweeping && walked.isEmpty()) {
            walked.addAll(other.walked);
            costBefore = other.costBefore;
            patience = other.patience;
        }
    }

    /** The next sweep is due when that of the other one is. */
    void sweepWith(QueueMarks other) {
        began = other.began;
    }

    /** A statement is about to run: from the marks, or a piece of a sweep. */
    void begin() {
        asked = ticker.getAsLong();
        foundSome = false;
        if (!sweeping && asked - began >= Math.min(SWEEP_AT_LEAST_EVERY, Math.max(SWEEP_EVERY, SHARE * costBefore))) {
            beginSweep();
        }
        boolean isTurn = piece == null ? full || asked - pausedAt >= pause : visiting;
        piece = sweeping && isTurn ? nextPiece() : null;
        open = piece != null && ahead.isEmpty() && room;
    }

    private void beginSweep() {
        began = asked;
        piece = null;
        full = false;
        for (int band = 0; band < BANDS; band++) {
            boolean untouched = marks[band].equals(Position.START);
            cursor[band] = untouched ? Position.END : Position.START;
            sweeping |= !untouched;
        }
        if (sweeping) {
            cost = 0;
            pieceCost = 0;
            pausedAt = asked;
            pause = 0;
            ahead.addAll(walked);
            ahead.add(new Piece(Arrays.stream(marks).mapToLong(Position::at).toArray(), 0));
            walked.clear();
        }
    }

    /** Neighbours that are cheap together are walked together. */
    private Piece nextPiece() {
        Piece next = ahead.removeFirst();
        while (!ahead.isEmpty() && next.cost() + ahead.getFirst().cost() <= patience) {
            next = new Piece(
                    ahead.getFirst().ends(), next.cost() + ahead.removeFirst().cost());
        }
        return next;
    }

    Position[] marks() {
        return marks.clone();
    }

    /** After which place the statement looks for rows, by band. */
    Position[] from() {
        Position[] from = marks.clone();
        for (int band = 0; piece != null && band < BANDS; band++) {
            from[band] = cursor[band].min(marks[band]);
        }
        return from;
    }

    /** Up to which place it does, inclusive. */
    long[] to() {
        if (piece != null && !open) {
            return piece.ends();
        }
        long[] everything = new long[BANDS];
        Arrays.fill(everything, Long.MAX_VALUE);
        return everything;
    }

    /** A row was taken: it and what is before it has passed. */
    void took(int band, Position position) {
        touched(band, position.at());
        pass(band, position);
    }

    /** A row of this place was taken, which says nothing about those before it. */
    void touched(int band, long at) {
        foundSome = true;
        lowest[band] = Math.min(lowest[band], at);
    }

    /** What is up to this place has passed. */
    void pass(int band, Position position) {
        marks[band] = marks[band].max(position);
        if (piece != null) {
            cursor[band] = cursor[band].max(position);
        }
    }

    /**
     * The statement is over.
     *
     * @param hadRoom whether it would have taken more
     * @param stretches where it stopped in each band though more may be behind, if so
     * @return whether it saw all there is after the marks
     */
    boolean end(boolean hadRoom, @Nullable Position[] stretches) {
        boolean walkedAll = true;
        for (int band = 0; band < BANDS; band++) {
            Position stretch = stretches[band];
            walkedAll &= stretch == null;
            open &= stretch == null || stretch.at() > marks[band].at();
            if (hadRoom && stretch != null) {
                pass(band, stretch);
            } else if (hadRoom && piece != null) {
                cursor[band] = cursor[band].max(Position.after(piece.ends()[band]));
            }
        }
        if (piece == null || open) {
            room = hadRoom;
        }
        if (piece != null) {
            endPiece(piece, hadRoom);
        }
        return walkedAll && (piece == null || open);
    }

    private void endPiece(Piece present, boolean hadRoom) {
        if (!foundSome) {
            spend();
        }
        full = !hadRoom;
        if (reached(present)) {
            endOf(present, pieceCost);
        } else {
            ahead.addFirst(present);
        }
        visiting = hadRoom && sweeping && !open && spent < visit();
        if (!visiting) {
            rest();
        }
    }

    /** The statement has failed. The marks stay; a piece of a sweep is tried again later, in parts. */
    void failed() {
        if (piece == null) {
            return;
        }
        long took = spend();
        pieceCost = 0;
        if (took < LEAST_PATIENCE || ahead.size() >= MOST_PIECES) {
            ahead.addFirst(piece); // its length was not the reason, or shorter ones do not help
        } else {
            patience = Math.max(LEAST_PATIENCE, Math.min(patience, took / 2));
            List<long[]> parts = parts(piece, PARTS);
            if (parts.isEmpty()) {
                endOf(piece, patience); // this sweep has to do without it
            }
            for (int part = parts.size() - 1; part >= 0; part--) {
                ahead.addFirst(new Piece(parts.get(part), patience));
            }
        }
        full = false;
        visiting = false;
        rest();
        pause = LONGEST_PAUSE;
    }

    /** Whether there is more to do for a claim that has found nothing so far. */
    boolean goesOn() {
        return piece == null ? sweeping && full : !open;
    }

    private boolean reached(Piece end) {
        for (int band = 0; band < BANDS; band++) {
            if (cursor[band].compareTo(Position.after(end.ends()[band])) < 0) {
                return false;
            }
        }
        return true;
    }

    private void endOf(Piece present, long took) {
        List<long[]> parts = took > 2 * patience ? parts(present, 2) : List.of();
        parts.forEach(ends -> walked.add(new Piece(ends, took / 2)));
        if (parts.isEmpty()) {
            walked.add(new Piece(present.ends(), took));
        }
        pieceCost = 0;
        for (int band = 0; band < BANDS; band++) {
            cursor[band] = cursor[band].max(Position.after(present.ends()[band]));
        }
        if (ahead.isEmpty()) {
            sweeping = false;
            costBefore = cost;
            patience = Math.min(PATIENCE, patience + patience / 20);
        }
    }

    /** Where parts of a piece end; it begins where the last piece ended. */
    private List<long[]> parts(Piece whole, int count) {
        return whole.parts(walked.isEmpty() ? null : walked.get(walked.size() - 1), lowest, count, shortest);
    }

    private long visit() {
        return Math.max(VISIT, costBefore / (SWEEP_AT_LEAST_EVERY / LONGEST_PAUSE));
    }

    private long spend() {
        long took = ticker.getAsLong() - asked;
        spent += took;
        cost += took;
        pieceCost += took;
        return took;
    }

    private void rest() {
        pausedAt = ticker.getAsLong();
        pause = Math.min(LONGEST_PAUSE, SHARE * spent);
        spent = 0;
    }

    /** A row whose place is this or later may still turn up: the marks go back to it. */
    void limit(Position latest) {
        for (int band = 0; band < BANDS; band++) {
            marks[band] = marks[band].min(latest);
        }
    }
}
