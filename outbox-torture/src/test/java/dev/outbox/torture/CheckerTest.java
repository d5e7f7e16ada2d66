package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Evidence.Effect;
import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.History.Outcome;
import dev.outbox.torture.History.Renewed;
import dev.outbox.torture.History.Settled;
import dev.outbox.torture.History.Transaction;
import dev.outbox.torture.Verdict.Violation;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the checker makes of evidence that is written by hand: a good turn, and each way to spoil it. */
class CheckerTest {
    private final History.Seen seen = new History.Seen();
    private final Set<Fault> faults = EnumSet.of(Fault.KILL);
    private final Set<String> orders = new HashSet<>(Set.of("tx"));
    private final Map<String, Row> outbox =
            new HashMap<>(Map.of("tx-0", row("a", 1, 2, Payload.FINE), "tx-1", row("b", 2, 2, Payload.FINE)));
    private final Map<String, Row> inbox = new HashMap<>();
    private final List<Effect> effects = new ArrayList<>(List.of(new Effect("tx-0", false), new Effect("tx-1", false)));
    private final List<Change> changes = new ArrayList<>(List.of(
            inserted("1", "a", 1),
            inserted("1", "b", 2),
            claimed("2", "a", 1, "t1"),
            done("3", "a", 1, "t1"),
            claimed("4", "b", 2, "t2"),
            done("5", "b", 2, "t2")));

    @BeforeEach
    void aGoodTurn() {
        seen.transactions().put("tx", new Transaction(2, Outcome.COMMITTED));
        seen.effects().addAll(Set.of("tx-0", "tx-1"));
        seen.settled().addAll(List.of(new Settled("a", "t1"), new Settled("b", "t2")));
    }

    private Verdict judge() {
        return Checker.judge(new Evidence(seen, orders, outbox, inbox, effects, changes, faults));
    }

    private void assertOnly(Violation violation, int count) {
        Verdict verdict = judge();
        for (Violation one : Violation.values()) {
            assertThat(verdict.count(one)).as("%s in %s", one, verdict).isEqualTo(one == violation ? count : 0);
        }
    }

    @Test
    void aGoodTurnIsClean() {
        assertThat(judge().isClean()).isTrue();
        assertThat(judge().messages()).isEqualTo(2);
    }

    @Test
    void anUnknownOutcomeMayHaveHappenedOrNot() {
        seen.transactions().put("tx", new Transaction(2, Outcome.UNKNOWN));
        seen.transactions().put("other", new Transaction(5, Outcome.UNKNOWN));
        seen.transactions().put("killed", new Transaction(5, Outcome.ATTEMPTED));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void aCommittedTransactionThatIsGoneIsLost() {
        seen.transactions().put("gone", new Transaction(0, Outcome.COMMITTED));

        assertOnly(Violation.LOST, 1);
    }

    @Test
    void aBusinessRowWithoutItsMessageIsALoss() {
        seen.transactions().put("tx", new Transaction(3, Outcome.UNKNOWN));

        assertOnly(Violation.LOST, 1);
    }

    @Test
    void aMessageOfATransactionThatDidNotHappenIsOneTooMany() {
        orders.clear();
        seen.transactions().put("tx", new Transaction(2, Outcome.ROLLED_BACK));

        assertOnly(Violation.DUPLICATED, 2);
    }

    @Test
    void aDoneMessageWithoutItsEffectIsLost() {
        effects.remove(1);
        seen.effects().remove("tx-1");

        assertOnly(Violation.LOST, 1);
    }

    @Test
    void anEffectThatWasCommittedAndIsGoneIsLost() {
        seen.effects().add("tx-9");

        assertOnly(Violation.LOST, 1);
    }

    @Test
    void aMessageToTheQueueHasToBeDoneInTheInboxToo() {
        outbox.put("tx-0", new Row("a", Consumer.QUEUE, "k", 1, 2, Payload.FINE));
        assertOnly(Violation.LOST, 1);

        inbox.put("tx-0", new Row("i", Consumer.QUEUE, "k", 1, 0, Payload.FINE));
        assertOnly(Violation.STUCK, 1);

        inbox.put("tx-0", new Row("i", Consumer.QUEUE, "k", 1, 2, Payload.FINE));
        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void anEffectThatHappensTwiceIsADuplicate() {
        effects.add(new Effect("tx-0", false));

        assertOnly(Violation.DUPLICATED, 1);
    }

    @Test
    void otherContentUnderAKnownIdIsNoticed() {
        seen.altered().add("tx-0");

        assertOnly(Violation.DUPLICATED, 1);
    }

    @Test
    void effectsOfAKeyInTheWrongOrderAreInverted() {
        effects.add(effects.remove(0));

        assertOnly(Violation.INVERTED, 1);
    }

    @Test
    void anUnfinishedMessageIsStuck() {
        outbox.put("tx-1", row("b", 2, 1, Payload.FINE));

        assertOnly(Violation.STUCK, 1);
    }

    @Test
    void onlyTheGuiltyMayDie() {
        outbox.put("tx-1", row("b", 2, 3, Payload.POISON));
        assertThat(judge().isClean()).isTrue();

        outbox.put("tx-1", row("b", 2, 3, Payload.FINE));
        assertOnly(Violation.LOST, 1);

        faults.add(Fault.POISON);
        assertOnly(Violation.LOST, 1);
    }

    @Test
    void whoWasLeasedWithAKillerMayDieToo() {
        faults.add(Fault.POISON);
        outbox.put("tx-1", row("b", 2, 3, Payload.FINE));
        seen.settled().remove(1);
        changes.set(5, new Change("5", "outbox", "b", 2, "k", 1, 3, "t2", null, 1, 1, true, false, 0, 0));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void aSettleThatWasAcceptedUnderAnothersTokenIsSeen() {
        seen.settled().add(new Settled("b", "t1"));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aSettleThatWasAcceptedAfterTheLeaseHadExpiredIsSeen() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", 1, 0, "t1", null, 1, 1, true, false, 0, 0));
        changes.add(4, claimed("3a", "a", 1, "t3"));
        changes.add(5, done("3b", "a", 1, "t3"));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aSettleThatWasRefusedAndYetAppliedIsSeen() {
        seen.settled().remove(1);
        seen.fenced().add(new Settled("b", "t2"));
        assertOnly(Violation.FENCED, 1);

        seen.unsure().add(new Settled("b", "t2"));
        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void aLeaseThatIsRenewedAfterItsEndIsSeen() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", 1, 2, "t1", null, 1, 1, false, false, 900, 1_000));
        seen.renewed().add(new Renewed(new Settled("a", "t1"), 990));
        assertThat(judge().isClean()).isTrue();

        seen.renewed().add(new Renewed(new Settled("a", "t1"), 1_010));
        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aCallerWhoseTransactionFailsWithoutReasonIsSeen() {
        seen.failed().add("failed SQLException no column");
        assertOnly(Violation.LOST, 1);

        faults.add(Fault.DATABASE_CRASH);
        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void aClaimOfMoreThanWasAskedForIsSeen() {
        seen.overclaimed().add("overclaimed 20 94");

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aLeasedItemThatIsLeasedAgainIsSeen() {
        changes.add(3, new Change("9", "outbox", "a", 1, null, 1, 1, "t1", "t9", 1, 2, false, false, 0, 0));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aDoneItemThatComesBackIsSeen() {
        changes.add(new Change("9", "outbox", "a", 1, "k", 2, 0, null, null, 1, 1, false, false, 0, 0));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aTokenThatIsUsedAgainIsSeen() {
        changes.set(4, claimed("4", "b", 2, "t1"));
        changes.set(5, done("5", "b", 2, "t1"));
        seen.settled().set(1, new Settled("b", "t1"));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void aLeaseThatIsEndedEarlyIsSeen() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", 1, 2, "t1", null, 1, 1, false, true, 0, 0));

        assertOnly(Violation.FENCED, 1);
    }

    @Test
    void anAttemptThatIsNotCountedIsSeen() {
        changes.set(2, new Change("2", "outbox", "a", 1, "k", 0, 1, null, "t1", 0, 0, false, false, 0, 0));

        assertOnly(Violation.STUCK, 1);
    }

    @Test
    void aMessageThatOvertakesItsHeadIsSeen() {
        changes.remove(3);
        changes.remove(2);
        changes.add(claimed("6", "a", 1, "t1"));
        changes.add(done("7", "a", 1, "t1"));

        assertOnly(Violation.INVERTED, 2); // leased before it, and Done before it
    }

    @Test
    void aKeyWithTwoOwnersIsSeen() {
        changes.remove(3);
        changes.add(4, done("5a", "a", 1, "t1"));

        assertOnly(Violation.INVERTED, 1);
    }

    @Test
    void aRunUnderOneTokenIsNoViolation() {
        changes.subList(2, 6).clear();
        changes.addAll(List.of(
                claimed("2", "b", 2, "t"), claimed("2", "a", 1, "t"), done("3", "b", 2, "t"), done("3", "a", 1, "t")));
        seen.settled().clear();

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatIsRequeuedComesLate() {
        changes.set(3, new Change("3", "outbox", "a", 1, "k", 1, 3, "t1", null, 1, 1, false, false, 0, 0));
        changes.add(5, new Change("4a", "outbox", "a", 1, "k", 3, 0, null, null, 1, 0, false, false, 0, 0));
        changes.add(claimed("6", "a", 1, "t3"));
        changes.add(done("7", "a", 1, "t3"));
        effects.add(effects.remove(0));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatIsRequeuedDoesNotGetAKeyASecondOwner() {
        changes.subList(2, 6).clear();
        changes.addAll(List.of(
                new Change("2", "outbox", "a", 1, "k", 0, 3, null, null, 0, 1, false, false, 0, 0),
                claimed("3", "b", 2, "t2"),
                new Change("4", "outbox", "a", 1, "k", 3, 0, null, null, 1, 0, false, false, 0, 0),
                new Change("5", "outbox", "a", 1, "k", 0, 1, null, "t1", 0, 1, false, false, 60_000, 60_000),
                done("6", "b", 2, "t2"),
                done("7", "a", 1, "t1")));

        assertThat(judge().count(Violation.INVERTED)).isOne();
    }

    @Test
    void aGoodItemThatIsPassedOverIsLate() {
        passedOver("late", Payload.FINE, null, 0);
        assertOnly(Violation.LATE, 1);
    }

    @Test
    void aGoodItemThatIsNeverFinishedIsLateToo() {
        passedOver("late", Payload.FINE, null, 0);
        changes.removeIf(change -> change.item().equals("late") && !change.isInsert());
        outbox.put("tx-2", new Row("late", Consumer.EDGE, null, 3, 0, Payload.FINE));
        seen.settled().removeIf(settled -> settled.item().equals("late"));
        effects.remove(new Effect("tx-2", false));
        seen.effects().remove("tx-2");

        assertThat(judge().count(Violation.LATE)).isOne();
    }

    @Test
    void theHeadOfAKeyIsLateToo() {
        passedOver("late", Payload.FINE, "l", 0);

        assertOnly(Violation.LATE, 1);
    }

    @Test
    void whatIsLeasedForTooLongIsLateToo() {
        passedOver("late", Payload.FINE, null, 0);
        Change claim = changes.remove(changes.size() - 2);
        changes.add(7, unkeyed(claim.xact(), "late", 3, 0, 1, null, "late", 0, 1, false, 10, 0));

        assertOnly(Violation.LATE, 1);
    }

    @Test
    void poisonMayWait() {
        passedOver("late", Payload.POISON, null, 0);

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatIsNotDueIsNotLate() {
        passedOver("late", Payload.FINE, null, WAIT - 1_000);

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatIsNotCommittedIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        Change insert = changes.get(6);
        changes.set(6, unkeyed(insert.xact(), "late", 3, -1, 0, null, null, 0, 0, false, WAIT - 1_000, 0));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatWaitsBehindTheHeadOfItsKeyIsNotLate() {
        passedOver("late", Payload.FINE, "l", 0);
        outbox.put("tx-9", new Row("head", Consumer.EDGE, "l", 0, 2, Payload.POISON));
        effects.add(0, new Effect("tx-9", false));
        changes.add(6, change("h1", "head", 0, "l", -1, 0, null, null, 0, 0, false, 0, 0));
        changes.add(7, change("h2", "head", 0, "l", 0, 1, null, "head", 0, 1, false, 0, 0));
        changes.add(changes.size() - 2, change("h3", "head", 0, "l", 1, 2, "head", null, 1, 1, false, WAIT - 1_000, 0));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whatADeadWorkerHeldIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        changes.add(7, unkeyed("d1", "late", 3, 0, 1, null, "dead", 0, 1, false, 10, 0));
        changes.add(changes.size() - 2, unkeyed("d2", "late", 3, 1, 0, "dead", null, 1, 1, true, WAIT - 1_000, 0));

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void anAttemptThatFailedEndsAWaitAndAReleaseDoesNot() {
        passedOver("late", Payload.FINE, null, 0);
        changes.add(7, unkeyed("f1", "late", 3, 0, 1, null, "first", 0, 1, false, WAIT / 2, 0));
        changes.add(8, unkeyed("f2", "late", 3, 1, 0, "first", null, 1, 1, false, WAIT / 2, WAIT / 2));
        assertThat(judge().isClean()).isTrue();

        changes.set(8, unkeyed("f2", "late", 3, 1, 0, "first", null, 1, 0, false, WAIT / 2, WAIT / 2));
        assertOnly(Violation.LATE, 1);
    }

    @Test
    void whileTheRouteAcceptsNothingNobodyIsLate() {
        passedOver("late", Payload.FINE, null, 0);
        changes.replaceAll(change -> change.item().startsWith("other") ? atEveryFourthSecond(change) : change);

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void whoWaitsForItsTurnIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        List<Change> firstCome = changes.stream()
                .filter(change -> change.isInsert() && change.item().startsWith("other"))
                .toList();
        changes.removeAll(firstCome);
        for (Change other : firstCome) {
            changes.add(6, unkeyed(other.xact(), other.item(), other.sequence(), -1, 0, null, null, 0, 0, false, 0, 0));
        }

        assertThat(judge().isClean()).isTrue();
    }

    private static Change atEveryFourthSecond(Change change) {
        return change(
                change.xact(),
                change.item(),
                change.sequence(),
                change.key(),
                change.oldStatus(),
                change.newStatus(),
                change.oldToken(),
                change.newToken(),
                change.oldAttempts(),
                change.newAttempts(),
                change.expired(),
                change.made() - change.made() % 4_000,
                change.due());
    }

    private static final long WAIT = Lateness.BOUND.toMillis() + 2_000;

    /** One item waits, and every half second another one comes, and is Done. */
    private void passedOver(String item, Payload payload, String key, long due) {
        outbox.put("tx-2", new Row(item, Consumer.EDGE, key, 3, 2, payload));
        seen.transactions().put("tx", new Transaction(3, Outcome.COMMITTED));
        changes.add(change("l1", item, 3, key, -1, 0, null, null, 0, 0, false, 0, due));
        for (long at = 500; at <= WAIT; at += 500) {
            String other = "other" + at;
            String otherKey = key == null ? null : "k" + at;
            outbox.put(other, new Row(other, Consumer.EDGE, otherKey, at, 2, Payload.FINE));
            effects.add(new Effect(other, false));
            changes.add(change("i" + at, other, at, otherKey, -1, 0, null, null, 0, 0, false, at, 0));
            changes.add(change("c" + at, other, at, otherKey, 0, 1, null, other, 0, 1, false, at, 0));
            changes.add(change("d" + at, other, at, otherKey, 1, 2, other, null, 1, 1, false, at, 0));
        }
        effects.add(new Effect("tx-2", false));
        changes.add(change("l2", item, 3, key, 0, 1, null, item, 0, 1, false, WAIT, due));
        changes.add(change("l3", item, 3, key, 1, 2, item, null, 1, 1, false, WAIT + 1, due));
    }

    private static Change unkeyed(
            String xact,
            String item,
            long sequence,
            int oldStatus,
            int newStatus,
            String oldToken,
            String newToken,
            int oldAttempts,
            int newAttempts,
            boolean expired,
            long at,
            long due) {
        return change(
                xact,
                item,
                sequence,
                null,
                oldStatus,
                newStatus,
                oldToken,
                newToken,
                oldAttempts,
                newAttempts,
                expired,
                at,
                due);
    }

    private static Change change(
            String xact,
            String item,
            long sequence,
            String key,
            int oldStatus,
            int newStatus,
            String oldToken,
            String newToken,
            int oldAttempts,
            int newAttempts,
            boolean expired,
            long at,
            long due) {
        return new Change(
                xact,
                "outbox",
                item,
                sequence,
                key,
                oldStatus,
                newStatus,
                oldToken,
                newToken,
                oldAttempts,
                newAttempts,
                expired,
                false,
                at,
                at,
                at,
                due);
    }

    @Test
    void poisonOfAStormIsGivenUpAtItsLastAttempt() {
        faults.add(Fault.POISON_STORM);
        outbox.put("tx-1", row("b", 2, 3, Payload.POISON));
        int last = ChildSettings.maxAttempts(faults);
        changes.set(5, new Change("5", "outbox", "b", 2, "k", 1, 3, "t2", null, last, last, false, false, 0, 0));
        assertThat(judge().isClean()).isTrue();

        changes.set(5, new Change("5", "outbox", "b", 2, "k", 1, 3, "t2", null, 1, 1, false, false, 0, 0));
        assertOnly(Violation.LOST, 1);
    }

    private static Row row(String item, long sequence, int status, Payload payload) {
        return new Row(item, Consumer.EDGE, "k", sequence, status, payload);
    }

    private static Change inserted(String xact, String item, long sequence) {
        return new Change(xact, "outbox", item, sequence, "k", -1, 0, null, null, 0, 0, false, false, 0, 0);
    }

    private static Change claimed(String xact, String item, long sequence, String token) {
        return new Change(xact, "outbox", item, sequence, "k", 0, 1, null, token, 0, 1, false, false, 0, 0);
    }

    private static Change done(String xact, String item, long sequence, String token) {
        return new Change(xact, "outbox", item, sequence, "k", 1, 2, token, null, 1, 1, false, false, 0, 0);
    }
}
