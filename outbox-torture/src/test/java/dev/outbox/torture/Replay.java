package dev.outbox.torture;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Verdict.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Goes through the changes of work items again, in the order the database made them, and holds each against the rules
 * of leases and keys. The changes of one transaction are one step; steps go by their first change. Two steps that
 * touch the same key have been one after the other in the database too, so this order is theirs.
 *
 * <p>But for what an operator requeues: that happens without regard to who is about to claim. A claim that did not see
 * it yet may go past it, and one that did may meet such a claim that it could not see. The promise is that what is
 * requeued comes late; so these do not count, where both were at it at about the same time.
 */
final class Replay {
    /** A claim that began so long after another one was made has seen it. */
    private static final long SEEN_MILLIS = 10_000;

    private final List<Change> changes;
    private final Verdict verdict;
    private final Map<String, Item> items = new HashMap<>();
    private final Map<String, Key> keys = new HashMap<>();
    private final Map<String, String> tokens = new HashMap<>();
    private final Set<String> requeued = new HashSet<>();

    Replay(List<Change> changes, Verdict verdict) {
        this.changes = changes;
        this.verdict = verdict;
    }

    private static final class Item {
        private final long sequence;
        private int status;
        private String token;
        private boolean requeued;
        private long changed;

        Item(long sequence) {
            this.sequence = sequence;
        }
    }

    /** What of a key is not finished, and what of that is leased, by sequence. */
    private static final class Key {
        private final TreeMap<Long, Item> unfinished = new TreeMap<>();
        private final TreeMap<Long, Item> leased = new TreeMap<>();

        void put(Item item) {
            unfinished.remove(item.sequence);
            leased.remove(item.sequence);
            if (item.status < 2) {
                unfinished.put(item.sequence, item);
            }
            if (item.status == 1) {
                leased.put(item.sequence, item);
            }
        }
    }

    /** Answers the items that were requeued. */
    Set<String> run() {
        Map<String, List<Change>> steps = new LinkedHashMap<>();
        for (Change change : changes) {
            steps.computeIfAbsent(change.xact(), xact -> new ArrayList<>()).add(change);
        }
        for (List<Change> step : steps.values()) {
            step.forEach(this::apply);
            step.forEach(this::checkKey);
        }
        return requeued;
    }

    private void apply(Change change) {
        Item item = items.computeIfAbsent(change.item(), id -> new Item(change.sequence()));
        checkItem(change, item);
        item.status = change.after().status();
        item.token = change.after().token();
        item.changed = change.times().made();
        if (change.before().status() == 3) {
            item.requeued = true;
            requeued.add(change.item());
        }
        if (change.key() != null) {
            keyOf(change).put(item);
        }
    }

    private void checkItem(Change change, Item item) {
        if (change.isInsert()) {
            return;
        }
        if (change.isClaim()) {
            if (change.before().status() != 0) {
                fenced(
                        change,
                        "was leased while it was %s",
                        name(change.before().status()));
            }
            if (change.after().attempts() != change.before().attempts() + 1) {
                verdict.add(
                        Violation.STUCK,
                        "%s %d was leased without counting the attempt: if it kills workers, it does so for ever",
                        change.queue(),
                        change.sequence());
            }
            String before = tokens.putIfAbsent(change.after().token(), change.xact());
            if (before != null && !before.equals(change.xact())) {
                fenced(change, "was leased under a token of an earlier claim");
            }
        } else if (change.before().status() == 2) {
            fenced(change, "was Done and became %s", name(change.after().status()));
        } else if (change.before().status() == 0 && change.after().status() >= 2) {
            fenced(change, "became %s without a lease", name(change.after().status()));
        }
        if (change.early()) {
            fenced(change, "was taken from its owner before the lease had run out");
        }
    }

    private void checkKey(Change change) {
        if (change.key() == null || change.isInsert()) {
            return;
        }
        Key key = keyOf(change);
        if (change.isClaim()) {
            for (Item other : key.leased.values()) {
                boolean unseen = change.times().began() - other.changed < SEEN_MILLIS;
                boolean late = (other.requeued || items.get(change.item()).requeued) && unseen;
                if (!change.after().token().equals(other.token) && !late) {
                    inverted(change, "was leased while %d of its key was another worker's", other.sequence);
                }
            }
            for (Item earlier : key.unfinished.headMap(change.sequence()).values()) {
                if (earlier.status == 0 && !earlier.requeued) {
                    inverted(change, "was leased before %d of its key", earlier.sequence);
                }
            }
        } else if (change.after().status() == 2) {
            for (Item earlier : key.unfinished.headMap(change.sequence()).values()) {
                if (!earlier.requeued) {
                    inverted(change, "was Done before %d of its key", earlier.sequence);
                }
            }
        }
    }

    private Key keyOf(Change change) {
        return keys.computeIfAbsent(change.queue() + " " + change.key(), key -> new Key());
    }

    private void fenced(Change change, String what, Object... parameters) {
        verdict.add(Violation.FENCED, change.queue() + " " + change.sequence() + " " + what.formatted(parameters));
    }

    private void inverted(Change change, String what, Object... parameters) {
        verdict.add(Violation.INVERTED, change.queue() + " " + change.sequence() + " " + what.formatted(parameters));
    }

    private static String name(int status) {
        return List.of("Ready", "Processing", "Done", "Dead").get(status);
    }
}
