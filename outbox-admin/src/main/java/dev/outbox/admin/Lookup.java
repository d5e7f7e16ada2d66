package dev.outbox.admin;

import dev.outbox.admin.internal.AdminTable;
import dev.outbox.internal.Require;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions like "what happened to order 42": all items with something in common, finished ones too as long as
 * they are kept, of outbox and inbox.
 *
 * <p>Searches need indexes that every enqueue would have to pay for. So they are opt-in, see {@code
 * OutboxMigrations.installLookup}: without them a table of up to 10,000 rows is read, and about a larger one a search
 * says what is missing instead of reading it. Thread-safe.
 */
public final class Lookup {
    private static final Comparator<Item> BY_CREATION = Comparator.comparing(Item::createdOn);

    private final AdminDatabase database;

    Lookup(AdminDatabase database) {
        this.database = database;
    }

    /** What items can be searched by. */
    enum By {
        KEY("key", "message_key"),
        CORRELATION("correlation id", "correlation_id"),
        TENANT("tenant", "tenant_id");

        private final String words;
        private final String column;

        By(String words, String column) {
            this.words = words;
            this.column = column;
        }

        /** The logical column. */
        String column() {
            return column;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** All of a key, in its order. */
    public ItemPage byKey(String key, Page page) {
        return by(By.KEY, Require.present("key", key), page);
    }

    /** All with this correlation id, in the order they were stored. */
    public ItemPage byCorrelation(String correlationId, Page page) {
        return by(By.CORRELATION, Require.present("correlationId", correlationId), page);
    }

    /** All of a tenant, in the order they were stored. */
    public ItemPage byTenant(String tenant, Page page) {
        return by(By.TENANT, Require.present("tenant", tenant), page);
    }

    /**
     * The item with this work item id, in either table; needs no index.
     *
     * @throws IllegalArgumentException if it is no UUID
     */
    public Optional<Item> byId(String id) {
        return database.run("look for an item", (session, tables) -> {
            for (AdminTable table : tables.ready(null)) {
                List<Item> found = new LookupTable(session, table).byIds(List.of(new ItemRef(table.kind(), id)));
                if (!found.isEmpty()) {
                    return Optional.of(found.get(0));
                }
            }
            return Optional.empty();
        });
    }

    private ItemPage by(By by, String value, Page page) {
        Require.present("page", page);
        return database.run("look for items by " + by, (session, tables) -> {
            List<List<Item>> parts = new ArrayList<>();
            for (AdminTable table : tables.ready(null)) {
                parts.add(new LookupTable(session, table)
                        .by(by, value, sequence(page.position(table.kind())), page.size() + 1));
            }
            return Merge.of(page, parts, BY_CREATION, item -> Long.toString(item.sequence()));
        });
    }

    private static long sequence(@Nullable String position) {
        try {
            return position == null ? Long.MIN_VALUE : Long.parseLong(position);
        } catch (NumberFormatException notOne) {
            throw Page.malformed(String.valueOf(position));
        }
    }
}
