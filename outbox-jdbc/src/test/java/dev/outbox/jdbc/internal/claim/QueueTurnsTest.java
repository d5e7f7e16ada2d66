package dev.outbox.jdbc.internal.claim;

import static dev.outbox.jdbc.internal.claim.ClaimQueue.KEYS;
import static dev.outbox.jdbc.internal.claim.ClaimQueue.READY;
import static dev.outbox.jdbc.internal.claim.ClaimQueue.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class QueueTurnsTest {
    private final AtomicLong time = new AtomicLong();
    private final Arrivals arrivals = new Arrivals();
    private final QueueTurns turns = new QueueTurns(time::get, arrivals);

    /** Asks queues until one of these has something, as a claim does; which one that is, or null. */
    private ClaimQueue claim(List<ClaimQueue> asked, ClaimQueue... busy) {
        for (ClaimQueue queue : turns.order()) {
            asked.add(queue);
            if (List.of(busy).contains(queue)) {
                turns.found(queue);
                return queue;
            }
            turns.empty(queue);
        }
        return null;
    }

    @Test
    void roadsThatHaveSomethingTakeTurns() {
        List<ClaimQueue> found = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            found.add(claim(new ArrayList<>(), READY, WAITING, KEYS));
        }

        assertThat(found).containsExactly(READY, WAITING, KEYS, READY, WAITING, KEYS);
    }

    @Test
    void anEmptyRoadIsLeftOutForAWhileAndThenAskedAgain() {
        List<ClaimQueue> asked = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            claim(asked, READY);
        }

        assertThat(asked.stream().filter(KEYS::equals).count()).isBetween(4L, 6L);
        assertThat(asked.stream().filter(WAITING::equals).count()).isBetween(4L, 6L);
        assertThat(asked.stream().filter(READY::equals)).hasSize(40);
    }

    @Test
    void whereClaimsAreRareAnEmptyRoadIsAskedAgainSoon() {
        List<ClaimQueue> asked = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            claim(asked, WAITING);
            time.addAndGet(Duration.ofSeconds(1).toNanos());
        }

        assertThat(asked.stream().filter(READY::equals).count()).isGreaterThan(30);
    }

    @Test
    void whenNoneHasSomethingAllAreAskedTheLastToHaveSomethingFirst() {
        claim(new ArrayList<>(), KEYS);
        claim(new ArrayList<>());

        assertThat(turns.order())
                .containsExactlyInAnyOrder(READY, WAITING, KEYS)
                .startsWith(KEYS);
    }

    @Test
    void aRoadWhoseEndWasNotReachedDoesNotRest() {
        turns.unfinished(KEYS);

        assertThat(turns.order()).containsExactly(READY, WAITING, KEYS);
        turns.found(READY);
        assertThat(turns.order()).containsExactly(WAITING, KEYS, READY);
    }

    @Test
    void aRoadOnWhichAClaimFailsDoesNotKeepTheOthersWaiting() {
        List<ClaimQueue> asked = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> turns.walk(queue -> {
                        asked.add(queue);
                        throw new SQLException("timeout");
                    }))
                    .hasMessage("timeout");
        }

        assertThat(asked).containsExactly(READY, WAITING, KEYS);
    }

    @Test
    void aClaimEndsAtTheFirstRoadThatHasSomething() throws SQLException {
        List<ClaimQueue> asked = new ArrayList<>();

        ClaimedRows claimed = turns.walk(queue -> {
            asked.add(queue);
            return claimed(queue == WAITING ? 1 : 0, false);
        });

        assertThat(asked).containsExactly(READY, WAITING);
        assertThat(claimed.items()).hasSize(1);
    }

    @Test
    void aClaimThatFindsNothingSaysWhetherARoadHasNotComeToItsEnd() throws SQLException {
        assertThat(turns.walk(queue -> claimed(0, queue == READY)).more()).isTrue();
        assertThat(turns.walk(queue -> claimed(0, false)).more()).isFalse();
    }

    @Test
    void aClaimThatFindsSomethingSaysWhetherAnotherRoadMayHaveMore() throws SQLException {
        assertThat(turns.walk(queue -> claimed(queue == READY ? 1 : 0, false)).more())
                .as("the others were not asked")
                .isTrue();
        assertThat(turns.walk(queue -> claimed(queue == READY ? 1 : 0, false)).more())
                .as("the others were empty")
                .isFalse();
        assertThat(turns.walk(queue -> claimed(queue == READY ? 1 : 0, true)).more())
                .as("the queue has more")
                .isTrue();
        time.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(turns.walk(queue -> claimed(1, false)).more())
                .as("the others were empty long ago")
                .isTrue();
    }

    @Test
    void aRoadDoesNotRestIfSomethingWasStoredForIt() throws SQLException {
        turns.walk(queue -> claimed(0, false));
        assertThat(askedWhileReadyHasSomething()).doesNotContain(KEYS);

        arrivals.stored(List.of(Message.to("t").key("k").payload("")));
        assertThat(askedWhileReadyHasSomething()).contains(KEYS).doesNotContain(WAITING);
        assertThat(askedWhileReadyHasSomething()).doesNotContain(KEYS);
        arrivals.committed();
        assertThat(askedWhileReadyHasSomething())
                .as("a claim before the commit could not see it")
                .contains(KEYS);
        arrivals.committed();
        assertThat(askedWhileReadyHasSomething()).doesNotContain(KEYS);
    }

    @Test
    void whatIsStoredWithADueTimeArrivesOnTheRoadOfThoseThatWait() throws SQLException {
        turns.walk(queue -> claimed(0, false));

        arrivals.stored(List.of(Message.to("t").due(Instant.EPOCH).payload("")));
        assertThat(askedWhileReadyHasSomething()).contains(WAITING).doesNotContain(KEYS);
    }

    private List<ClaimQueue> askedWhileReadyHasSomething() throws SQLException {
        List<ClaimQueue> asked = new ArrayList<>();
        turns.walk(queue -> {
            asked.add(queue);
            return claimed(queue == READY ? 1 : 0, false);
        });
        return asked;
    }

    private static ClaimedRows claimed(int items, boolean more) {
        WorkItem item = new WorkItem("id", 1, 1, Instant.EPOCH, Message.to("t").payload(""));
        return new ClaimedRows("token", Instant.EPOCH, Collections.nCopies(items, item), List.of(), more);
    }
}
