package dev.outbox.admin;

import java.util.List;
import java.util.Optional;

/**
 * The items of one page.
 *
 * @param next the next page; empty if this was the last one
 */
public record ItemPage(List<Item> items, Optional<Page> next) {
    public ItemPage {
        items = List.copyOf(items);
    }
}
