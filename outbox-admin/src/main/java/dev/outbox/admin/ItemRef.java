package dev.outbox.admin;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import java.util.UUID;

/**
 * Identifies one work item and its table: {@code outbox/0199…} or {@code inbox/0199…}.
 *
 * @param id the work item's id
 */
public record ItemRef(TableKind kind, String id) {
    /** @throws IllegalArgumentException if the id is not a UUID */
    public ItemRef {
        Require.present("kind", kind);
        id = uuid(Require.present("id", id));
    }

    /**
     * Reads what {@link #toString} writes.
     *
     * @throws IllegalArgumentException if the text does not name an item
     */
    public static ItemRef parse(String text) {
        int slash = Require.present("reference", text).indexOf('/');
        for (TableKind kind : TableKind.values()) {
            if (slash > 0 && text.substring(0, slash).equals(kind.toString())) {
                return new ItemRef(kind, text.substring(slash + 1));
            }
        }
        throw new IllegalArgumentException(
                "an item is named outbox/<id> or inbox/<id>, was \"" + text + "\"; list shows the names");
    }

    private static String uuid(String id) {
        try {
            return UUID.fromString(id).toString();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the id of an item is a UUID, was \"" + id + "\"", e);
        }
    }

    @Override
    public String toString() {
        return kind + "/" + id;
    }
}
