package dev.outbox.admin;

import dev.outbox.admin.internal.AdminTable;
import dev.outbox.internal.Require;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions like "what happened to order 42": finds all items of outbox and inbox with the same key, correlation id or
 * tenant, including Done ones as long as they are kept.
 *
 * <p>A search needs an index, and each index makes every enqueue a little slower. So the indexes are opt-in, see {@code
 * OutboxMigrations.installLookup}. Without its index, a search reads a table of up to 10,000 rows; on a larger table it fails
 * and names what is missing. Thread-safe.
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

    /** All items of a key, in its order. */
    public ItemPage byKey(String key, Page page) {
        return by(By.KEY, Require.present("key", key), page);
    }

    /** All items with this correlation id, in the order in which they were stored. */
    public ItemPage byCorrelation(String correlationId, Page page) {
        return by(By.CORRELATION, Require.present("correlationId", correlationId), page);
    }

    /** All items of a tenant, in the order in which they were stored. */
    public ItemPage byTenant(String tenant, Page page) {
        return by(By.TENANT, Require.present("tenant", tenant), page);
    }

    /**
     * The item with this work item id, in either table; needs no index.
     *
     * @throws IllegalArgumentException if the id is not a UUID
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
