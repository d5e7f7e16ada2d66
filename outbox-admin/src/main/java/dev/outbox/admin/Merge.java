package dev.outbox.admin;

import dev.outbox.jdbc.TableKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Merges the items of two tables into one page. The items of each table keep their order. Each table is asked for one item more
 * than the page holds, which tells whether there is another page.
 */
final class Merge {
    private Merge() {}

    static ItemPage of(Page page, List<List<Item>> parts, Comparator<Item> order, Function<Item, String> position) {
        List<Deque<Item>> left = new ArrayList<>();
        parts.forEach(part -> left.add(new ArrayDeque<>(part)));
        List<Item> items = new ArrayList<>();
        Map<TableKind, String> ends = new EnumMap<>(TableKind.class);
        while (true) {
            left.removeIf(Deque::isEmpty);
            if (left.isEmpty()) {
                return new ItemPage(items, Optional.empty());
            }
            if (items.size() == page.size()) {
                return new ItemPage(items, Optional.of(page.movedTo(ends)));
            }
            Item next = left.stream()
                    .min(Comparator.comparing(Deque::element, order))
                    .orElseThrow()
                    .remove();
            items.add(next);
            ends.put(next.ref().kind(), position.apply(next));
        }
    }
}
