package dev.outbox.torture;

import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.History.Outcome;
import dev.outbox.torture.History.Settled;
import dev.outbox.torture.Verdict.Violation;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides from the evidence of a turn what was lost, duplicated, reordered, stuck, late, or done without the right to.
 *
 * <p>Like a total-queue checker it keeps unknown outcomes apart: a transaction whose commit nobody was told of may have
 * happened or not; the business row that it wrote says which, and its messages must agree with it. Order is judged
 * where it is promised: leases and settles of a key in the order of its sequence ({@link Replay}), and the first effect
 * of each message of a key. What an operator requeued comes late, and is left out of it.
 */
final class Checker {
    /** Processes and database have the same clock, and round it to milliseconds. */
    private static final long CLOCK_GRAIN_MILLIS = 2;

    private static final Set<Fault> FAIL_NO_CALLER = EnumSet.of(
            Fault.KILL,
            Fault.MIGRATION,
            Fault.OLD_SNAPSHOT,
            Fault.POISON,
            Fault.HOT_KEY,
            Fault.CLOCK_JUMP,
            Fault.POISON_STORM,
            Fault.FLAPPING,
            Fault.SLOW_DESTINATION,
            Fault.HUGE_PAYLOADS);

    private final Evidence evidence;
    private final Verdict verdict = new Verdict();
    private final Map<String, Integer> effects = new HashMap<>();

    /** Items that lost a lease because it ran out. */
    private final Set<String> expired = new HashSet<>();

    private Checker(Evidence evidence) {
        this.evidence = evidence;
        evidence.changes().stream().filter(Evidence.Change::expired).forEach(change -> expired.add(change.item()));
    }

    static Verdict judge(Evidence evidence) {
        Checker checker = new Checker(evidence);
        checker.verdict.messages(evidence.outbox().size());
        checker.effects();
        checker.transactions();
        checker.ends();
        Set<String> requeued = new Replay(evidence.changes(), checker.verdict).run();
        checker.orderOfEffects(requeued);
        checker.poison();
        if (!evidence.faults().contains(Fault.MIGRATION)) { // it holds rows back until they are completed
            new Lateness(evidence, checker.verdict).check(requeued);
        }
        checker.settles();
        checker.renewals();
        checker.callers();
        evidence.seen().overclaimed().forEach(line -> checker.verdict.add(Violation.FENCED, "a claim %s", line));
        return checker.verdict;
    }

    private void effects() {
        for (Evidence.Effect effect : evidence.effects()) {
            effects.merge(effect.messageId(), 1, Integer::sum);
            if (effect.altered()) {
                verdict.add(Violation.DUPLICATED, "%s had the effect of another message", effect.messageId());
            }
        }
        effects.forEach((id, count) -> {
            if (count > 1) {
                verdict.add(Violation.DUPLICATED, "%s had its effect %d times", id, count);
            }
            if (!evidence.outbox().containsKey(id)) {
                verdict.add(Violation.DUPLICATED, "%s had its effect and was never stored", id);
            }
        });
        for (String id : evidence.seen().altered()) {
            verdict.add(Violation.DUPLICATED, "other content under the id %s was taken for the same message", id);
        }
        for (String id : evidence.seen().effects()) {
            if (!effects.containsKey(id)) {
                verdict.add(Violation.LOST, "the effect of %s was committed and is gone", id);
            }
        }
    }

    /** Stored if and only if its transaction committed. */
    private void transactions() {
        evidence.seen().transactions().forEach((tx, transaction) -> {
            boolean happened = evidence.orders().contains(tx);
            if (transaction.outcome() == Outcome.COMMITTED && !happened) {
                verdict.add(Violation.LOST, "transaction %s was committed and is gone", tx);
            }
            if (transaction.outcome() == Outcome.ROLLED_BACK && happened) {
                verdict.add(Violation.DUPLICATED, "transaction %s was rolled back and is there", tx);
            }
            for (int i = 0; i < transaction.messages(); i++) {
                String id = tx + "-" + i;
                boolean stored = evidence.isStored(id);
                if (happened && !stored) {
                    verdict.add(Violation.LOST, "%s is not stored although its transaction committed", id);
                } else if (stored && !happened) {
                    verdict.add(Violation.DUPLICATED, "%s is stored although its transaction did not commit", id);
                }
            }
        });
    }

    /** Each message ends Done with its effect, or Dead for a reason. */
    private void ends() {
        evidence.outbox().forEach((id, row) -> {
            if (isFinished(id, row, "the outbox") && row.status() == 2) {
                if (row.topic().equals(Consumer.QUEUE)) {
                    Row queued = evidence.inbox().get(id);
                    if (queued == null) {
                        verdict.add(Violation.LOST, "%s was delivered and is not in the inbox", id);
                    } else if (isFinished(id, queued, "the inbox") && queued.status() == 2) {
                        hasEffect(id);
                    }
                } else {
                    hasEffect(id);
                }
            }
        });
    }

    private boolean isFinished(String id, Row row, String where) {
        if (row.status() < 2) {
            verdict.add(Violation.STUCK, "%s is still %s in %s", id, row.status() == 0 ? "Ready" : "Processing", where);
            return false;
        }
        boolean guilty = !row.payload().isGood();
        // messages that kill workers take others along, which were leased with them
        boolean unlucky = evidence.faults().contains(Fault.POISON) && expired.contains(row.item());
        if (row.status() == 3 && !guilty && !unlucky) {
            verdict.add(Violation.LOST, "%s is Dead in %s, and nothing was wrong with it", id, where);
        }
        return true;
    }

    /** Where failures count as attempts, a message is given up at its last one and not before. */
    private void poison() {
        if (!evidence.faults().contains(Fault.POISON_STORM)) {
            return;
        }
        int most = ChildSettings.maxAttempts(evidence.faults());
        for (Evidence.Change change : evidence.changes()) {
            if (change.after().status() == 3
                    && change.before().status() != 3
                    && change.after().attempts() < most) {
                verdict.add(
                        Violation.LOST,
                        "%s %d was given up at attempt %d of %d",
                        change.queue(),
                        change.sequence(),
                        change.after().attempts(),
                        most);
            }
        }
    }

    private void hasEffect(String id) {
        if (!effects.containsKey(id)) {
            verdict.add(Violation.LOST, "%s is Done and had no effect", id);
        }
    }

    private void orderOfEffects(Set<String> requeued) {
        Map<String, Integer> places = new HashMap<>();
        for (Evidence.Effect effect : evidence.effects()) {
            places.putIfAbsent(effect.messageId(), places.size());
        }
        Map<String, TreeMap<Long, String>> keys = new TreeMap<>();
        evidence.outbox().forEach((id, row) -> {
            Row queued = evidence.inbox().get(id);
            boolean late = requeued.contains(row.item()) || queued != null && requeued.contains(queued.item());
            if (row.key() != null && places.containsKey(id) && !late) {
                keys.computeIfAbsent(row.key(), key -> new TreeMap<>(Comparator.naturalOrder()))
                        .put(row.sequence(), id);
            }
        });
        keys.forEach((key, messages) -> {
            String before = null;
            for (String id : messages.values()) {
                if (before != null && places.get(id) < places.get(before)) {
                    verdict.add(Violation.INVERTED, "of %s, %s had its effect before %s", key, id, before);
                }
                before = id;
            }
        });
    }

    /** What a worker was told it had settled, the database has settled under that very token. */
    private void settles() {
        Set<Settled> applied = new HashSet<>();
        Set<Settled> finished = new HashSet<>();
        for (Evidence.Change change : evidence.changes()) {
            if (change.before().status() == 1 && change.after().status() != 1 && !change.expired()) {
                applied.add(new Settled(change.item(), change.before().token()));
                if (change.after().status() >= 2) {
                    finished.add(new Settled(change.item(), change.before().token()));
                }
            }
        }
        Set<Settled> answered = new LinkedHashSet<>(evidence.seen().settled());
        for (Settled settled : answered) {
            if (!applied.contains(settled)) {
                verdict.add(
                        Violation.FENCED,
                        "a settle of %s under %s was accepted although the lease was another's",
                        settled.item(),
                        settled.token());
            }
        }
        for (Settled fenced : evidence.seen().fenced()) {
            // One that nobody answered may have been accepted, and its repetition is not; and who puts off the head of
            // a
            // run gives back the rest of it.
            if (finished.contains(fenced)
                    && !answered.contains(fenced)
                    && !evidence.seen().unsure().contains(fenced)) {
                verdict.add(
                        Violation.FENCED,
                        "a settle of %s under %s was refused and yet applied",
                        fenced.item(),
                        fenced.token());
            }
        }
    }

    /** Nobody is told that a lease is his for longer after it was his no more. */
    private void renewals() {
        Map<Settled, Long> ends = new HashMap<>();
        for (Evidence.Change change : evidence.changes()) {
            boolean over = change.after().status() != 1
                    || !String.valueOf(change.after().token())
                            .equals(change.before().token());
            if (change.before().status() == 1 && change.before().token() != null && over) {
                ends.putIfAbsent(
                        new Settled(change.item(), change.before().token()),
                        change.times().made());
            }
        }
        for (History.Renewed renewed : evidence.seen().renewed()) {
            Long end = ends.get(renewed.lease());
            if (end != null && renewed.asked() > end + CLOCK_GRAIN_MILLIS) {
                verdict.add(
                        Violation.FENCED,
                        "the lease of %s under %s was renewed %d ms after its end",
                        renewed.lease().item(),
                        renewed.lease().token(),
                        renewed.asked() - end);
            }
        }
    }

    /** A migration fails no transaction of a caller. */
    private void callers() {
        if (FAIL_NO_CALLER.containsAll(evidence.faults())) {
            evidence.seen()
                    .failed()
                    .forEach(line -> verdict.add(Violation.LOST, "a caller's transaction failed: %s", line));
        }
    }
}
