package dev.outbox.torture;

import static dev.outbox.torture.Evidence.State.ABSENT;
import static dev.outbox.torture.Evidence.State.done;
import static dev.outbox.torture.Evidence.State.leased;
import static dev.outbox.torture.Evidence.State.ready;
import static dev.outbox.torture.Evidence.Times.at;
import static dev.outbox.torture.GoodTurn.change;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Evidence.Effect;
import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.History.Outcome;
import dev.outbox.torture.History.Transaction;
import dev.outbox.torture.Verdict.Violation;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which items count as passed over, and which had a reason to wait. */
class LatenessTest {
    private static final long WAIT = Lateness.BOUND.toMillis() + 2_000;

    private final GoodTurn turn = new GoodTurn();
    private final History.Seen seen = turn.seen;
    private final Map<String, Row> outbox = turn.outbox;
    private final List<Effect> effects = turn.effects;
    private final List<Change> changes = turn.changes;

    @Test
    void aGoodItemThatIsPassedOverIsLate() {
        passedOver("late", Payload.FINE, null, 0);
        turn.assertOnly(Violation.LATE, 1);
    }

    @Test
    void aGoodItemThatIsNeverFinishedIsLateToo() {
        passedOver("late", Payload.FINE, null, 0);
        changes.removeIf(change -> change.item().equals("late") && !change.isInsert());
        outbox.put("tx-2", new Row("late", Consumer.EDGE, null, 3, 0, Payload.FINE));
        seen.settled().removeIf(settled -> settled.item().equals("late"));
        effects.remove(new Effect("tx-2", false));
        seen.effects().remove("tx-2");

        assertThat(turn.judge().count(Violation.LATE)).isOne();
    }

    @Test
    void theHeadOfAKeyIsLateToo() {
        passedOver("late", Payload.FINE, "l", 0);

        turn.assertOnly(Violation.LATE, 1);
    }

    @Test
    void whatIsLeasedForTooLongIsLateToo() {
        passedOver("late", Payload.FINE, null, 0);
        Change claim = changes.remove(changes.size() - 2);
        changes.add(7, change(claim.xact(), "late", 3, null, ready(0), leased("late", 1), false, 10, 0));

        turn.assertOnly(Violation.LATE, 1);
    }

    @Test
    void poisonMayWait() {
        passedOver("late", Payload.POISON, null, 0);

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatIsNotDueIsNotLate() {
        passedOver("late", Payload.FINE, null, WAIT - 1_000);

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatIsNotCommittedIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        Change insert = changes.get(6);
        changes.set(6, change(insert.xact(), "late", 3, null, ABSENT, ready(0), false, WAIT - 1_000, 0));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatWaitsBehindTheHeadOfItsKeyIsNotLate() {
        passedOver("late", Payload.FINE, "l", 0);
        outbox.put("tx-9", new Row("head", Consumer.EDGE, "l", 0, 2, Payload.POISON));
        effects.add(0, new Effect("tx-9", false));
        changes.add(6, change("h1", "head", 0, "l", ABSENT, ready(0), false, 0, 0));
        changes.add(7, change("h2", "head", 0, "l", ready(0), leased("head", 1), false, 0, 0));
        changes.add(
                changes.size() - 2, change("h3", "head", 0, "l", leased("head", 1), done(1), false, WAIT - 1_000, 0));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whatADeadWorkerHeldIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        changes.add(7, change("d1", "late", 3, null, ready(0), leased("dead", 1), false, 10, 0));
        changes.add(
                changes.size() - 2, change("d2", "late", 3, null, leased("dead", 1), ready(1), true, WAIT - 1_000, 0));

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void anAttemptThatFailedEndsAWaitAndAReleaseDoesNot() {
        passedOver("late", Payload.FINE, null, 0);
        changes.add(7, change("f1", "late", 3, null, ready(0), leased("first", 1), false, WAIT / 2, 0));
        changes.add(8, change("f2", "late", 3, null, leased("first", 1), ready(1), false, WAIT / 2, WAIT / 2));
        assertThat(turn.judge().isClean()).isTrue();

        changes.set(8, change("f2", "late", 3, null, leased("first", 1), ready(0), false, WAIT / 2, WAIT / 2));
        turn.assertOnly(Violation.LATE, 1);
    }

    @Test
    void whileTheRouteAcceptsNothingNobodyIsLate() {
        passedOver("late", Payload.FINE, null, 0);
        changes.replaceAll(change -> change.item().startsWith("other") ? atEveryFourthSecond(change) : change);

        assertThat(turn.judge().isClean()).isTrue();
    }

    @Test
    void whoWaitsForItsTurnIsNotLate() {
        passedOver("late", Payload.FINE, null, 0);
        List<Change> firstCome = changes.stream()
                .filter(change -> change.isInsert() && change.item().startsWith("other"))
                .toList();
        changes.removeAll(firstCome);
        for (Change other : firstCome) {
            changes.add(6, change(other.xact(), other.item(), other.sequence(), null, ABSENT, ready(0), false, 0, 0));
        }

        assertThat(turn.judge().isClean()).isTrue();
    }

    private static Change atEveryFourthSecond(Change change) {
        return new Change(
                change.xact(),
                change.queue(),
                change.item(),
                change.sequence(),
                change.key(),
                change.before(),
                change.after(),
                change.expired(),
                change.early(),
                at(change.times().made() - change.times().made() % 4_000),
                change.due());
    }

    /** One item waits, and every half second another one comes, and is Done. */
    private void passedOver(String item, Payload payload, String key, long due) {
        outbox.put("tx-2", new Row(item, Consumer.EDGE, key, 3, 2, payload));
        seen.transactions().put("tx", new Transaction(3, Outcome.COMMITTED));
        changes.add(change("l1", item, 3, key, ABSENT, ready(0), false, 0, due));
        for (long at = 500; at <= WAIT; at += 500) {
            String other = "other" + at;
            String otherKey = key == null ? null : "k" + at;
            outbox.put(other, new Row(other, Consumer.EDGE, otherKey, at, 2, Payload.FINE));
            effects.add(new Effect(other, false));
            changes.add(change("i" + at, other, at, otherKey, ABSENT, ready(0), false, at, 0));
            changes.add(change("c" + at, other, at, otherKey, ready(0), leased(other, 1), false, at, 0));
            changes.add(change("d" + at, other, at, otherKey, leased(other, 1), done(1), false, at, 0));
        }
        effects.add(new Effect("tx-2", false));
        changes.add(change("l2", item, 3, key, ready(0), leased(item, 1), false, WAIT, due));
        changes.add(change("l3", item, 3, key, leased(item, 1), done(1), false, WAIT + 1, due));
    }
}
