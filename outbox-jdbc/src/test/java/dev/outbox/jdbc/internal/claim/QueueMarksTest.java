package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.internal.claim.QueueMarks.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Marks over a queue whose statements take some time for each entry that they walk. */
class QueueMarksTest {
    private static final int HIGH = 0;
    private static final int NORMAL = 1;
    private static final int COUNT = 10;

    private final AtomicLong time = new AtomicLong();
    private final QueueMarks marks = new QueueMarks(time::get, 1_000);

    /** Index entries by band, of rows that are alive or dead; vacuum removes none. */
    private final List<NavigableSet<Long>> entries = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());

    private final List<NavigableSet<Long>> alive = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());

    private Duration perEntry = Duration.ofNanos(1_000);

    /** A statement that takes longer fails. */
    private Duration timeout = Duration.ofDays(1);

    private int failed;

    /** Entries that statements have walked. */
    private long walked;

    /** What the statements since the last look did: the first and last places, in the band of normal rows. */
    private final List<String> statements = new ArrayList<>();

    @Test
    void claimsGoOnAfterTheLastRowTaken() {
        put(NORMAL, 1, 25);

        assertThat(claim()).hasSize(10);
        assertThat(claim()).hasSize(10);
        assertThat(claim()).containsExactly(21L, 22L, 23L, 24L, 25L);

        assertThat(statements).containsExactly("start..end", "10..end", "20..end");
    }

    @Test
    void aRowThatCommitsLateIsFoundWithinASecond() {
        passed(NORMAL, 100);
        put(NORMAL, 50, 50);

        assertThat(claim()).isEmpty();
        pass(Duration.ofSeconds(1));

        assertThat(claim()).containsExactly(50L);
    }

    @Test
    void aCheapSweepAndTheClaimFromTheMarksAreOneStatement() {
        passed(NORMAL, 100);
        pass(Duration.ofSeconds(1));
        put(NORMAL, 101, 101);

        assertThat(claim()).containsExactly(101L);
        assertThat(claim()).isEmpty();

        assertThat(statements).containsExactly("start..end", "101..end");
    }

    @Test
    void aSweepThatFailsLeavesTheMarksAlone() {
        passed(NORMAL, 100_000);
        timeout = Duration.ofMillis(20);
        pass(Duration.ofSeconds(1));

        claim();
        put(NORMAL, 100_001, 100_001);

        assertThat(failed).isEqualTo(1);
        assertThat(claim()).containsExactly(100_001L);
        assertThat(statements).containsExactly("start..end", "100000..end");
    }

    @Test
    void aSweepOverManyDeadEntriesGetsThroughUnderATimeoutWhileClaimsGoOn() {
        passed(NORMAL, 300_000);
        timeout = Duration.ofMillis(20);
        put(NORMAL, 299_000, 299_000); // late
        int claims = 0;
        int found = 0;
        for (long next = 300_001; alive.get(NORMAL).contains(299_000L); next++, claims++) {
            put(NORMAL, next, next);
            found += claim().size();
            pass(Duration.ofMillis(200));
        }

        assertThat(claims).as("claims in half a minute").isLessThan(150);
        assertThat(failed).isLessThan(10);
        assertThat(found).isGreaterThanOrEqualTo(claims - failed);
    }

    @Test
    void aSweepThatKnowsTheDeadEntriesHardlyFailsAgain() {
        passed(NORMAL, 300_000);
        timeout = Duration.ofMillis(20);
        run(Duration.ofMinutes(2));
        failed = 0;

        run(Duration.ofMinutes(10));

        assertThat(failed).isLessThan(20);
    }

    /** They lie at the end of a long way that vacuum has cleared. */
    @Test
    void deadEntriesAreFoundWhereverTheyAre() {
        put(NORMAL, 1, 1);
        claim();
        entries.get(NORMAL).clear();
        passed(NORMAL, 2_000_000_000L, 2_000_300_000L);
        timeout = Duration.ofMillis(20);
        run(Duration.ofMinutes(2));
        failed = 0;
        put(NORMAL, 2_000_299_000L, 2_000_299_000L);

        run(Duration.ofSeconds(30));

        assertThat(alive.get(NORMAL)).isEmpty();
        assertThat(failed).isLessThan(5);
    }

    @Test
    void aSlowPieceIsHalvedBeforeItFails() {
        passed(NORMAL, 100_000);
        run(Duration.ofMinutes(1));
        timeout = Duration.ofMillis(50);

        run(Duration.ofMinutes(1));

        assertThat(failed).isZero();
    }

    @Test
    void sweepsTakeATwentiethOfTheTime() {
        passed(NORMAL, 300_000);
        run(Duration.ofMinutes(2));
        long start = time.get();
        long walkedBefore = walked;

        run(Duration.ofMinutes(1));

        long cost = (walked - walkedBefore) * 1_000;
        assertThat(cost).isBetween((time.get() - start) / 60, (time.get() - start) / 15);
    }

    @Test
    void aSweepThatIsSlowWhateverItDoesIsThroughInHalfAMinute() {
        passed(NORMAL, 3_000_000);
        run(Duration.ofMinutes(2));
        put(NORMAL, 2_999_999, 2_999_999);

        run(Duration.ofSeconds(45));

        assertThat(alive.get(NORMAL)).isEmpty();
    }

    @Test
    void piecesAreJoinedWhenVacuumHasBeenThere() {
        passed(NORMAL, 300_000);
        run(Duration.ofMinutes(1));
        entries.get(NORMAL).clear();
        run(Duration.ofMinutes(1));
        statements.clear();

        pass(Duration.ofSeconds(1));
        claim();

        assertThat(statements).containsExactly("start..end");
    }

    /** Then it is not the length of the piece that makes it fail. */
    @Test
    void aPieceThatFailsAtOnceIsNotCut() {
        passed(NORMAL, 100_000);
        timeout = Duration.ofNanos(1);
        pass(Duration.ofSeconds(1));
        claim();
        timeout = Duration.ofDays(1);
        statements.clear();

        run(Duration.ofMillis(1_500));

        assertThat(statements).contains("start..end");
        assertThat(failed).isEqualTo(1);
    }

    @Test
    void aPieceThatFailsHoweverShortItIsIsPassedOver() {
        passed(NORMAL, 10_000);
        perEntry = Duration.ofMillis(1);
        timeout = Duration.ofMillis(20);
        put(NORMAL, 9_000, 9_000);
        entries.get(NORMAL).subSet(5_000L, true, 10_001L, true).clear();
        entries.get(NORMAL).add(9_000L);

        run(Duration.ofMinutes(1));

        assertThat(alive.get(NORMAL)).isEmpty();
    }

    @Test
    void aFullBatchInASweepKeepsTheMarksOfOtherBands() {
        passed(HIGH, 100_000);
        put(NORMAL, 200_001, 200_050);
        pass(Duration.ofSeconds(1));

        for (int i = 0; i < 5; i++) {
            assertThat(claim()).hasSize(COUNT);
        }

        assertThat(walked)
                .as("entries: the sweep may have walked the urgent ones once")
                .isLessThan(200_200);
        assertThat(marks.from()[HIGH]).isEqualTo(new Position(100_000, 0));
    }

    @Test
    void manyRowsThatCommitLateAreTakenAtOnce() {
        passed(NORMAL, 1_000);
        put(NORMAL, 101, 150);
        pass(Duration.ofSeconds(1));

        for (int i = 0; i < 5; i++) {
            assertThat(claim()).hasSize(COUNT);
        }
    }

    @Test
    void rowsThatCommitLateDoNotKeepNewOnesWaiting() {
        passed(NORMAL, 1_000);
        put(NORMAL, 101, 200);
        put(NORMAL, 1_001, 1_100);
        pass(Duration.ofSeconds(1));

        for (int i = 0; i < 20; i++) {
            claim();
        }

        assertThat(alive.get(NORMAL)).isEmpty();
    }

    @Test
    void aClaimWhosePiecesFoundNothingGoesOnFromTheMarks() {
        passed(NORMAL, 300_000);
        run(Duration.ofMinutes(1));
        statements.clear();

        for (long next = 300_001; next <= 300_100; next++) {
            put(NORMAL, next, next);
            pass(Duration.ofMillis(200));
            assertThat(claim()).containsExactly(next);
        }

        assertThat(statements).as("claims and pieces").hasSizeGreaterThan(130);
    }

    @Test
    void whatAnotherHasPassedIsNotWalkedAgain() {
        passed(NORMAL, 100_000);
        QueueMarks fewer = new QueueMarks(time::get, 1_000);

        fewer.startFrom(marks);
        fewer.begin();

        assertThat(fewer.from()[NORMAL]).isEqualTo(new Position(100_000, 0));
    }

    @Test
    void aMarkThatIsLimitedGoesBack() {
        passed(NORMAL, 100);

        marks.limit(new Position(90, Long.MIN_VALUE));
        put(NORMAL, 91, 91);

        assertThat(claim()).containsExactly(91L);
    }

    private void put(int band, long from, long to) {
        for (long at = from; at <= to; at++) {
            entries.get(band).add(at);
            alive.get(band).add(at);
        }
    }

    /** Rows that were taken; their entries stay. */
    private void passed(int band, long to) {
        passed(band, 1, to);
    }

    private void passed(int band, long from, long to) {
        marks.begin();
        for (long at = from; at <= to; at++) {
            entries.get(band).add(at);
        }
        marks.took(band, new Position(from, 0));
        marks.took(band, new Position(to, 0));
        marks.end(true, new Position[QueueMarks.BANDS]);
        statements.clear();
    }

    private void pass(Duration step) {
        time.addAndGet(step.toNanos());
    }

    private void run(Duration length) {
        for (long end = time.get() + length.toNanos(); time.get() < end; pass(Duration.ofMillis(200))) {
            claim();
        }
    }

    /** As {@link LowWaterMarks#walk} does it. */
    private List<Long> claim() {
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
