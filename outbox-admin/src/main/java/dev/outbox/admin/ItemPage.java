package dev.outbox.admin;

import java.util.List;
import java.util.Optional;

/**
 * Part of a list.
 *
 * @param next where it goes on; empty if this was the end
 */
public record ItemPage(List<Item> items, Optional<Page> next) {
    public ItemPage {
        items = List.copyOf(items);
    }
}
