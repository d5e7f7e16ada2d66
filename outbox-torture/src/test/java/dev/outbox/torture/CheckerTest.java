package dev.outbox.torture;

import static dev.outbox.torture.Evidence.State.dead;
import static dev.outbox.torture.Evidence.State.done;
import static dev.outbox.torture.Evidence.State.leased;
import static dev.outbox.torture.Evidence.State.ready;
import static dev.outbox.torture.Evidence.Times.at;
import static dev.outbox.torture.GoodTurn.change;
import static dev.outbox.torture.GoodTurn.claimed;
import static dev.outbox.torture.GoodTurn.doneBy;
import static dev.outbox.torture.GoodTurn.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Evidence.Effect;
import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.Evidence.Times;
import dev.outbox.torture.History.Outcome;
import dev.outbox.torture.History.Renewed;
import dev.outbox.torture.History.Settled;
import dev.outbox.torture.History.Transaction;
import dev.outbox.torture.Verdict.Violation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the checker makes of evidence that is written by hand: a good turn, and each way to spoil it. */
class CheckerTest {
    private final GoodTurn turn = new GoodTurn();
    private final History.Seen seen = turn.seen;
    private final Set<Fault> faults = turn.faults;
    private final Set<String> orders = turn.orders;
    private final Map<String, Row> outbox = turn.outbox;
    private final Map<String, Row> inbox = turn.inbox;
    private final List<Effect> effects = turn.effects;
    private final List<Change> changes = turn.changes;

    @Test
    void aGoodTurnIsClean() {
        assertThat(turn.judge().isClean()).isTrue();
        assertThat(turn.judge().messages()).isEqualTo(2);
    }

    @Test
    void anUnknownOutcomeMayHaveHappenedOrNot() {
        seen.transactions().put("tx", new Transaction(2, Outcome.UNKNOWN));
        seen.transactions().put("other", new Transaction(5, Outcome.UNKNOWN));
        seen.transactions().put("killed", new Transaction(5, Outcome.ATTEMPTED));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void aCommittedTransactionThatIsGoneIsLost() {
        seen.transactions().put("gone", new Transaction(0, Outcome.COMMITTED));

        turn.assertOnly(Violation.LOST, 1);
    }

    @Test
    void aBusinessRowWithoutItsMessageIsALoss() {
        seen.transactions().put("tx", new Transaction(3, Outcome.UNKNOWN));

        turn.assertOnly(Violation.LOST, 1);
    }

    @Test
    void aMessageOfATransactionThatDidNotHappenIsOneTooMany() {
        orders.clear();
        seen.transactions().put("tx", new Transaction(2, Outcome.ROLLED_BACK));

        turn.assertOnly(Violation.DUPLICATED, 2);
    }

    @Test
    void aDoneMessageWithoutItsEffectIsLost() {
        effects.remove(1);
        seen.effects().remove("tx-1");

        turn.assertOnly(Violation.LOST, 1);
    }

    @Test
    void anEffectThatWasCommittedAndIsGoneIsLost() {
        seen.effects().add("tx-9");

        turn.assertOnly(Violation.LOST, 1);
    }

    @Test
    void aMessageToTheQueueHasToBeDoneInTheInboxToo() {
        outbox.put("tx-0", new Row("a", Consumer.QUEUE, "k", 1, 2, Payload.FINE));
        turn.assertOnly(Violation.LOST, 1);

        inbox.put("tx-0", new Row("i", Consumer.QUEUE, "k", 1, 0, Payload.FINE));
        turn.assertOnly(Violation.STUCK, 1);

        inbox.put("tx-0", new Row("i", Consumer.QUEUE, "k", 1, 2, Payload.FINE));
        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void anEffectThatHappensTwiceIsADuplicate() {
        effects.add(new Effect("tx-0", false));

        turn.assertOnly(Violation.DUPLICATED, 1);
    }

    @Test
    void otherContentUnderAKnownIdIsNoticed() {
        seen.altered().add("tx-0");

        turn.assertOnly(Violation.DUPLICATED, 1);
    }

    @Test
    void effectsOfAKeyInTheWrongOrderAreInverted() {
        effects.add(effects.remove(0));

        turn.assertOnly(Violation.INVERTED, 1);
    }

    @Test
    void anUnfinishedMessageIsStuck() {
        outbox.put("tx-1", row("b", 2, 1, Payload.FINE));

        turn.assertOnly(Violation.STUCK, 1);
    }

    @Test
    void onlyTheGuiltyMayDie() {
        outbox.put("tx-1", row("b", 2, 3, Payload.POISON));
        assertThat(turn.judge().isClean()).isTrue();

        outbox.put("tx-1", row("b", 2, 3, Payload.FINE));
        turn.assertOnly(Violation.LOST, 1);

        faults.add(Fault.POISON);
        turn.assertOnly(Violation.LOST, 1);
    }

    @Test
    void whoWasLeasedWithAKillerMayDieToo() {
        faults.add(Fault.POISON);
        outbox.put("tx-1", row("b", 2, 3, Payload.FINE));
        seen.settled().remove(1);
        changes.set(5, new Change("5", "outbox", "b", 2, "k", leased("t2", 1), dead(1), true, false, at(0), 0));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void aSettleThatWasAcceptedUnderAnothersTokenIsSeen() {
        seen.settled().add(new Settled("b", "t1"));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aSettleThatWasAcceptedAfterTheLeaseHadExpiredIsSeen() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", leased("t1", 1), ready(1), true, false, at(0), 0));
        changes.add(4, claimed("3a", "a", 1, "t3"));
        changes.add(5, doneBy("3b", "a", 1, "t3"));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aSettleThatWasRefusedAndYetAppliedIsSeen() {
        seen.settled().remove(1);
        seen.fenced().add(new Settled("b", "t2"));
        turn.assertOnly(Violation.FENCED, 1);

        seen.unsure().add(new Settled("b", "t2"));
        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void aLeaseThatIsRenewedAfterItsEndIsSeen() {
        changes.set(
                3,
                new Change(
                        "3",
                        "outbox",
                        "a",
                        1,
                        "k",
                        leased("t1", 1),
                        done(1),
                        false,
                        false,
                        new Times(900, 1_000, 1_000),
                        0));
        seen.renewed().add(new Renewed(new Settled("a", "t1"), 990));
        assertThat(turn.judge().isClean()).isTrue();

        seen.renewed().add(new Renewed(new Settled("a", "t1"), 1_010));
        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aCallerWhoseTransactionFailsWithoutReasonIsSeen() {
        seen.failed().add("failed SQLException no column");
        turn.assertOnly(Violation.LOST, 1);

        faults.add(Fault.DATABASE_CRASH);
        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void aClaimOfMoreThanWasAskedForIsSeen() {
        seen.overclaimed().add("overclaimed 20 94");

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aLeasedItemThatIsLeasedAgainIsSeen() {
        changes.add(3, change("9", "a", 1, null, leased("t1", 1), leased("t9", 2)));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aDoneItemThatComesBackIsSeen() {
        changes.add(change("9", "a", 1, "k", done(1), ready(1)));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aTokenThatIsUsedAgainIsSeen() {
        changes.set(4, claimed("4", "b", 2, "t1"));
        changes.set(5, doneBy("5", "b", 2, "t1"));
        seen.settled().set(1, new Settled("b", "t1"));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aLeaseThatIsEndedEarlyIsSeen() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", leased("t1", 1), done(1), false, true, at(0), 0));

        turn.assertOnly(Violation.FENCED, 1);
    }

    @Test
    void anAttemptThatIsNotCountedIsSeen() {
        changes.set(2, change("2", "a", 1, "k", ready(0), leased("t1", 0)));

        turn.assertOnly(Violation.STUCK, 1);
    }

    @Test
    void aMessageThatOvertakesItsHeadIsSeen() {
        changes.remove(3);
        changes.remove(2);
        changes.add(claimed("6", "a", 1, "t1"));
        changes.add(doneBy("7", "a", 1, "t1"));

        turn.assertOnly(Violation.INVERTED, 2); // leased before it, and Done before it
    }

    @Test
    void aKeyWithTwoOwnersIsSeen() {
        changes.remove(3);
        changes.add(4, doneBy("5a", "a", 1, "t1"));

        turn.assertOnly(Violation.INVERTED, 1);
    }

    @Test
    void aRunUnderOneTokenIsNoViolation() {
        changes.subList(2, 6).clear();
        changes.addAll(List.of(
                claimed("2", "b", 2, "t"),
                claimed("2", "a", 1, "t"),
                doneBy("3", "b", 2, "t"),
                doneBy("3", "a", 1, "t")));
        seen.settled().clear();

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatIsRequeuedComesLate() {
        changes.set(3, change("3", "a", 1, "k", leased("t1", 1), dead(1)));
        changes.add(5, change("4a", "a", 1, "k", dead(1), ready(0)));
        changes.add(claimed("6", "a", 1, "t3"));
        changes.add(doneBy("7", "a", 1, "t3"));
        effects.add(effects.remove(0));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatIsRequeuedDoesNotGetAKeyASecondOwner() {
        changes.subList(2, 6).clear();
        changes.addAll(List.of(
                change("2", "a", 1, "k", ready(0), dead(1)),
                claimed("3", "b", 2, "t2"),
                change("4", "a", 1, "k", dead(1), ready(0)),
                new Change("5", "outbox", "a", 1, "k", ready(0), leased("t1", 1), false, false, at(60_000), 0),
                doneBy("6", "b", 2, "t2"),
                doneBy("7", "a", 1, "t1")));

        assertThat(turn.judge().count(Violation.INVERTED)).isOne();
    }

    @Test
    void poisonOfAStormIsGivenUpAtItsLastAttempt() {
        faults.add(Fault.POISON_STORM);
        outbox.put("tx-1", row("b", 2, 3, Payload.POISON));
        int last = ChildSettings.maxAttempts(faults);
        changes.set(5, change("5", "b", 2, "k", leased("t2", last), dead(last)));
        assertThat(turn.judge().isClean()).isTrue();

        changes.set(5, change("5", "b", 2, "k", leased("t2", 1), dead(1)));
        turn.assertOnly(Violation.LOST, 1);
    }
}
