package dev.outbox.testkit;

import dev.outbox.Priority;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides which items a claim takes, and in which order. It remembers from claim to claim whose turn is next. The caller
 * holds the monitor of the store.
 */
final class InMemoryClaimOrder {
    private final InMemoryStore store;

    /** The last key that had its turn; the next claim begins with the key after it. */
    private String cursor = "";

    private int claims;

    InMemoryClaimOrder(InMemoryStore store) {
        this.store = store;
    }

    /** Unkeyed items and keys take turns, and so do the keys among each other, one item at a time. */
    List<Row> pick(ClaimRequest request, Instant now) {
        claims++;
        List<Row> unkeyed = new ArrayList<>();
        for (Row row : store.rows()) {
            if (row.key() == null && isClaimable(row, request, now)) {
                unkeyed.add(row);
            }
        }
        Iterator<Row> free = byPriority(unkeyed, request.count()).iterator();
        Iterator<Row> ordered = inTurns(claimableRuns(request, now)).iterator();
        List<Row> picked = new ArrayList<>();
        for (int turn = claims; picked.size() < request.count() && (free.hasNext() || ordered.hasNext()); turn++) {
            Iterator<Row> rows = turn % 2 == 0 ? ordered : free;
            if (rows.hasNext()) {
                picked.add(rows.next());
            }
        }
        return picked;
    }

    private boolean isClaimable(Row row, ClaimRequest request, Instant now) {
        return row.isEligible(now) && request.wants(row.message.topic()) && !store.isLocked(row);
    }

    /**
     * The items that fit into the bound in bytes: an item is taken while those before it have fewer bytes. Of the items
     * without a key, urgent ones come first and bulk last, but in one claim of ten bulk comes first, and in one of four
     * normal. So large items of one band leave room for the others and get some themselves.
     */
    List<Row> fitting(List<Row> picked, int maxBytes) {
        Iterator<Row> unkeyed = picked.stream()
                .filter(row -> row.key() == null)
                .sorted(Comparator.comparing(row -> turn(row.message.priority())))
                .iterator();
        List<Row> inOrder = new ArrayList<>(picked);
        inOrder.replaceAll(row -> row.key() == null ? unkeyed.next() : row);
        Set<String> served = new HashSet<>();
        List<Row> fitting = new ArrayList<>();
        long bytes = 0;
        for (Row row : inOrder) {
            if (bytes >= maxBytes) {
                break;
            }
            fitting.add(row);
            bytes += row.size();
            String key = row.key();
            if (key != null && served.add(key) && row.message.priority() != Priority.HIGH) {
                cursor = key;
            }
        }
        return fitting;
    }

    private int turn(Priority priority) {
        boolean isFirst = priority == Priority.BULK ? claims % 10 == 9 : priority == Priority.NORMAL && claims % 4 == 2;
        return isFirst ? -1 : priority.code();
    }

    private boolean urgentKeysAreFirst() {
        return claims % 10 != 4;
    }

    /**
     * Urgent items come first and bulk items last, but bulk gets a tenth of the batch and normal a quarter. A claim of a
     * single item serves bulk every tenth time and normal every fourth time. Within a band what was due first comes first,
     * so that an item that keeps failing overtakes no other.
     */
    private List<Row> byPriority(List<Row> rows, int count) {
        List<Row> ordered = new ArrayList<>(first(rows, Priority.BULK, (count + claims % 10) / 10));
        ordered.addAll(first(rows, Priority.NORMAL, (count + (claims + 1) % 4) / 4));
        List<Row> rest = new ArrayList<>(rows);
        rest.removeAll(ordered);
        rest.sort(Comparator.comparing((Row row) -> row.message.priority())
                .thenComparing(row -> row.due)
                .thenComparing(row -> row.sequence));
        ordered.addAll(rest);
        return ordered;
    }

    private static List<Row> first(List<Row> rows, Priority priority, int count) {
        return rows.stream()
                .filter(row -> row.message.priority() == priority)
                .limit(count)
                .toList();
    }

    /**
     * Per claimable key the items that may be leased from its head on. Keys whose head is urgent come first, the oldest
     * before the others, and in one claim of ten last; the other keys come from the cursor on.
     */
    private List<List<Row>> claimableRuns(ClaimRequest request, Instant now) {
        TreeMap<String, List<Row>> runs = new TreeMap<>();
        store.unfinishedByKey().forEach((key, rows) -> {
            if (rows.stream().noneMatch(row -> row.isLeased(now) || row.blocksKey)) {
                List<Row> run = rows.stream()
                        .takeWhile(row -> isClaimable(row, request, now))
                        .toList();
                boolean isSuspect = !run.isEmpty() && run.get(0).attempts > 1; // so that no other item pays for it
                runs.put(key, isSuspect ? run.subList(0, 1) : run);
            }
        });
        List<List<Row>> fromCursor = new ArrayList<>(runs.tailMap(cursor, false).values());
        fromCursor.addAll(runs.headMap(cursor, true).values());
        fromCursor.removeIf(List::isEmpty);
        List<List<Row>> urgent = new ArrayList<>(fromCursor);
        urgent.removeIf(run -> run.get(0).message.priority() != Priority.HIGH);
        urgent.sort(Comparator.comparing(run -> run.get(0).sequence));
        fromCursor.removeAll(urgent);
        fromCursor.addAll(urgentKeysAreFirst() ? 0 : fromCursor.size(), urgent);
        return fromCursor;
    }

    /** The first of each run, then the second of each, and so on. */
    private static List<Row> inTurns(List<List<Row>> runs) {
        List<Row> turns = new ArrayList<>();
        int longest = runs.stream().mapToInt(List::size).max().orElse(0);
        for (int turn = 0; turn < longest; turn++) {
            for (List<Row> run : runs) {
                if (turn < run.size()) {
                    turns.add(run.get(turn));
                }
            }
        }
        return turns;
    }
}
