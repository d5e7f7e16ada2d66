package dev.outbox.torture;

import static dev.outbox.torture.Evidence.State.ABSENT;
import static dev.outbox.torture.Evidence.State.done;
import static dev.outbox.torture.Evidence.State.leased;
import static dev.outbox.torture.Evidence.State.ready;
import static dev.outbox.torture.Evidence.Times.at;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Evidence.Effect;
import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.Evidence.State;
import dev.outbox.torture.History.Outcome;
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

/** Evidence of a turn in which all went well, written by hand, for a test to spoil. */
final class GoodTurn {
    final History.Seen seen = new History.Seen();
    final Set<Fault> faults = EnumSet.of(Fault.KILL);
    final Set<String> orders = new HashSet<>(Set.of("tx"));
    final Map<String, Row> outbox =
            new HashMap<>(Map.of("tx-0", row("a", 1, 2, Payload.FINE), "tx-1", row("b", 2, 2, Payload.FINE)));
    final Map<String, Row> inbox = new HashMap<>();
    final List<Effect> effects = new ArrayList<>(List.of(new Effect("tx-0", false), new Effect("tx-1", false)));
    final List<Change> changes = new ArrayList<>(List.of(
            inserted("1", "a", 1),
            inserted("1", "b", 2),
            claimed("2", "a", 1, "t1"),
            doneBy("3", "a", 1, "t1"),
            claimed("4", "b", 2, "t2"),
            doneBy("5", "b", 2, "t2")));

    GoodTurn() {
        seen.transactions().put("tx", new Transaction(2, Outcome.COMMITTED));
        seen.effects().addAll(Set.of("tx-0", "tx-1"));
        seen.settled().addAll(List.of(new Settled("a", "t1"), new Settled("b", "t2")));
    }

    Verdict judge() {
        return Checker.judge(new Evidence(seen, orders, outbox, inbox, effects, changes, faults));
    }

    void assertOnly(Violation violation, int count) {
        Verdict verdict = judge();
        for (Violation one : Violation.values()) {
            assertThat(verdict.count(one)).as("%s in %s", one, verdict).isEqualTo(one == violation ? count : 0);
        }
    }

    static Change change(String xact, String item, long sequence, String key, State before, State after) {
        return change(xact, item, sequence, key, before, after, false, 0, 0);
    }

    static Change change(
            String xact,
            String item,
            long sequence,
            String key,
            State before,
            State after,
            boolean expired,
            long at,
            long due) {
        return new Change(xact, "outbox", item, sequence, key, before, after, expired, false, at(at), due);
    }

    static Row row(String item, long sequence, int status, Payload payload) {
        return new Row(item, Consumer.EDGE, "k", sequence, status, payload);
    }

    static Change inserted(String xact, String item, long sequence) {
        return change(xact, item, sequence, "k", ABSENT, ready(0));
    }

    static Change claimed(String xact, String item, long sequence, String token) {
        return change(xact, item, sequence, "k", ready(0), leased(token, 1));
    }

    static Change doneBy(String xact, String item, long sequence, String token) {
        return change(xact, item, sequence, "k", leased(token, 1), done(1));
    }
}
