package dev.outbox.postgres;

import java.util.UUID;

/**
 * How the id of a work item names a row: by its work item id, or, in an inbox that has no such column yet or has not
 * filled it, by its message id. The two are told apart, so that what was claimed by one is settled by it after the
 * table has changed.
 */
enum ItemIds {
    WORK_ITEM("uuid"),
    MESSAGE_ID("text");

    /** What an item id begins with that holds a message id. No UUID does. */
    static final String MESSAGE = "message ";

    private final String type;

    ItemIds(String type) {
        this.type = type;
    }

    static ItemIds of(String itemId) {
        return itemId.startsWith(MESSAGE) ? MESSAGE_ID : WORK_ITEM;
    }

    /** The type of the column. */
    String type() {
        return type;
    }

    /** What the column holds. */
    Object toColumn(String itemId) {
        return this == WORK_ITEM ? UUID.fromString(itemId) : itemId.substring(MESSAGE.length());
    }

    String toItemId(String column) {
        return this == WORK_ITEM ? column : MESSAGE + column;
    }
}
