package dev.outbox.jdbc.internal.claim;

import static dev.outbox.jdbc.internal.claim.SlowQueue.COUNT;
import static dev.outbox.jdbc.internal.claim.SlowQueue.HIGH;
import static dev.outbox.jdbc.internal.claim.SlowQueue.NORMAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.internal.claim.QueueMarks.Position;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Marks over a queue whose statements take some time for each entry that they walk. */
class QueueMarksTest {
    private final SlowQueue queue = new SlowQueue();

    @Test
    void claimsGoOnAfterTheLastRowTaken() {
        queue.put(NORMAL, 1, 25);

        assertThat(queue.claim()).hasSize(10);
        assertThat(queue.claim()).hasSize(10);
        assertThat(queue.claim()).containsExactly(21L, 22L, 23L, 24L, 25L);

        assertThat(queue.statements).containsExactly("start..end", "10..end", "20..end");
    }

    @Test
    void aRowThatCommitsLateIsFoundWithinASecond() {
        queue.passed(NORMAL, 100);
        queue.put(NORMAL, 50, 50);

        assertThat(queue.claim()).isEmpty();
        queue.pass(Duration.ofSeconds(1));

        assertThat(queue.claim()).containsExactly(50L);
    }

    @Test
    void aCheapSweepAndTheClaimFromTheMarksAreOneStatement() {
        queue.passed(NORMAL, 100);
        queue.pass(Duration.ofSeconds(1));
        queue.put(NORMAL, 101, 101);

        assertThat(queue.claim()).containsExactly(101L);
        assertThat(queue.claim()).isEmpty();

        assertThat(queue.statements).containsExactly("start..end", "101..end");
    }

    @Test
    void aSweepThatFailsLeavesTheMarksAlone() {
        queue.passed(NORMAL, 100_000);
        queue.timeout = Duration.ofMillis(20);
        queue.pass(Duration.ofSeconds(1));

        queue.claim();
        queue.put(NORMAL, 100_001, 100_001);

        assertThat(queue.failed).isEqualTo(1);
        assertThat(queue.claim()).containsExactly(100_001L);
        assertThat(queue.statements).containsExactly("start..end", "100000..end");
    }

    @Test
    void aSweepOverManyDeadEntriesGetsThroughUnderATimeoutWhileClaimsGoOn() {
        queue.passed(NORMAL, 300_000);
        queue.timeout = Duration.ofMillis(20);
        queue.put(NORMAL, 299_000, 299_000); // late
        int claims = 0;
        int found = 0;
        for (long next = 300_001; queue.alive.get(NORMAL).contains(299_000L); next++, claims++) {
            queue.put(NORMAL, next, next);
            found += queue.claim().size();
            queue.pass(Duration.ofMillis(200));
        }

        assertThat(claims).as("claims in half a minute").isLessThan(150);
        assertThat(queue.failed).isLessThan(10);
        assertThat(found).isGreaterThanOrEqualTo(claims - queue.failed);
    }

    @Test
    void aSweepThatKnowsTheDeadEntriesHardlyFailsAgain() {
        queue.passed(NORMAL, 300_000);
        queue.timeout = Duration.ofMillis(20);
        queue.run(Duration.ofMinutes(2));
        queue.failed = 0;

        queue.run(Duration.ofMinutes(10));

        assertThat(queue.failed).isLessThan(20);
    }

    /** They lie at the end of a long way that vacuum has cleared. */
    @Test
    void deadEntriesAreFoundWhereverTheyAre() {
        queue.put(NORMAL, 1, 1);
        queue.claim();
        queue.entries.get(NORMAL).clear();
        queue.passed(NORMAL, 2_000_000_000L, 2_000_300_000L);
        queue.timeout = Duration.ofMillis(20);
        queue.run(Duration.ofMinutes(2));
        queue.failed = 0;
        queue.put(NORMAL, 2_000_299_000L, 2_000_299_000L);

        queue.run(Duration.ofSeconds(30));

        assertThat(queue.alive.get(NORMAL)).isEmpty();
        assertThat(queue.failed).isLessThan(5);
    }

    @Test
    void aSlowPieceIsHalvedBeforeItFails() {
        queue.passed(NORMAL, 100_000);
        queue.run(Duration.ofMinutes(1));
        queue.timeout = Duration.ofMillis(50);

        queue.run(Duration.ofMinutes(1));

        assertThat(queue.failed).isZero();
    }

    @Test
    void sweepsTakeATwentiethOfTheTime() {
        queue.passed(NORMAL, 300_000);
        queue.run(Duration.ofMinutes(2));
        long start = queue.time.get();
        long walkedBefore = queue.walked;

        queue.run(Duration.ofMinutes(1));

        long cost = (queue.walked - walkedBefore) * 1_000;
        assertThat(cost).isBetween((queue.time.get() - start) / 60, (queue.time.get() - start) / 15);
    }

    @Test
    void aSweepThatIsSlowWhateverItDoesIsThroughInHalfAMinute() {
        queue.passed(NORMAL, 3_000_000);
        queue.run(Duration.ofMinutes(2));
        queue.put(NORMAL, 2_999_999, 2_999_999);

        queue.run(Duration.ofSeconds(45));

        assertThat(queue.alive.get(NORMAL)).isEmpty();
    }

    @Test
    void piecesAreJoinedWhenVacuumHasBeenThere() {
        queue.passed(NORMAL, 300_000);
        queue.run(Duration.ofMinutes(1));
        queue.entries.get(NORMAL).clear();
        queue.run(Duration.ofMinutes(1));
        queue.statements.clear();

        queue.pass(Duration.ofSeconds(1));
        queue.claim();

        assertThat(queue.statements).containsExactly("start..end");
    }

    /** Then it is not the length of the piece that makes it fail. */
    @Test
    void aPieceThatFailsAtOnceIsNotCut() {
        queue.passed(NORMAL, 100_000);
        queue.timeout = Duration.ofNanos(1);
        queue.pass(Duration.ofSeconds(1));
        queue.claim();
        queue.timeout = Duration.ofDays(1);
        queue.statements.clear();

        queue.run(Duration.ofMillis(1_500));

        assertThat(queue.statements).contains("start..end");
        assertThat(queue.failed).isEqualTo(1);
    }

    @Test
    void aPieceThatFailsHoweverShortItIsIsPassedOver() {
        queue.passed(NORMAL, 10_000);
        queue.perEntry = Duration.ofMillis(1);
        queue.timeout = Duration.ofMillis(20);
        queue.put(NORMAL, 9_000, 9_000);
        queue.entries.get(NORMAL).subSet(5_000L, true, 10_001L, true).clear();
        queue.entries.get(NORMAL).add(9_000L);

        queue.run(Duration.ofMinutes(1));

        assertThat(queue.alive.get(NORMAL)).isEmpty();
    }

    @Test
    void aFullBatchInASweepKeepsTheMarksOfOtherBands() {
        queue.passed(HIGH, 100_000);
        queue.put(NORMAL, 200_001, 200_050);
        queue.pass(Duration.ofSeconds(1));

        for (int i = 0; i < 5; i++) {
            assertThat(queue.claim()).hasSize(COUNT);
        }

        assertThat(queue.walked)
                .as("entries: the sweep may have walked the urgent ones once")
                .isLessThan(200_200);
        assertThat(queue.marks.from()[HIGH]).isEqualTo(new Position(100_000, 0));
    }

    @Test
    void manyRowsThatCommitLateAreTakenAtOnce() {
        queue.passed(NORMAL, 1_000);
        queue.put(NORMAL, 101, 150);
        queue.pass(Duration.ofSeconds(1));

        for (int i = 0; i < 5; i++) {
            assertThat(queue.claim()).hasSize(COUNT);
        }
    }

    @Test
    void rowsThatCommitLateDoNotKeepNewOnesWaiting() {
        queue.passed(NORMAL, 1_000);
        queue.put(NORMAL, 101, 200);
        queue.put(NORMAL, 1_001, 1_100);
        queue.pass(Duration.ofSeconds(1));

        for (int i = 0; i < 20; i++) {
            queue.claim();
        }

        assertThat(queue.alive.get(NORMAL)).isEmpty();
    }

    @Test
    void aClaimWhosePiecesFoundNothingGoesOnFromTheMarks() {
        queue.passed(NORMAL, 300_000);
        queue.run(Duration.ofMinutes(1));
        queue.statements.clear();

        for (long next = 300_001; next <= 300_100; next++) {
            queue.put(NORMAL, next, next);
            queue.pass(Duration.ofMillis(200));
            assertThat(queue.claim()).containsExactly(next);
        }

        assertThat(queue.statements).as("claims and pieces").hasSizeGreaterThan(130);
    }

    @Test
    void whatAnotherHasPassedIsNotWalkedAgain() {
        queue.passed(NORMAL, 100_000);
        QueueMarks fewer = new QueueMarks(queue.time::get, 1_000);

        fewer.startFrom(queue.marks);
        fewer.begin();

        assertThat(fewer.from()[NORMAL]).isEqualTo(new Position(100_000, 0));
    }

    @Test
    void aMarkThatIsLimitedGoesBack() {
        queue.passed(NORMAL, 100);

        queue.marks.limit(new Position(90, Long.MIN_VALUE));
        queue.put(NORMAL, 91, 91);

        assertThat(queue.claim()).containsExactly(91L);
    }
}
