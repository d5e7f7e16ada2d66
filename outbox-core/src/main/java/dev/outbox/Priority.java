package dev.outbox;

/**
 * The band of a message. Bands order unkeyed messages, and the heads of keys, against each other; they
 * never reorder the messages inside a key.
 *
 * <p>No band starves. While unkeyed messages of all bands wait, a claim takes 65 % of them from {@link #HIGH}, 25 % from
 * {@link #NORMAL} and 10 % from {@link #BULK}. What a band does not use goes to the others, HIGH first and BULK last.
 *
 * <p>Among messages with a key, a claim looks at nine new ones of HIGH for three of NORMAL and one of BULK. For a retry,
 * and for the next message of a key with a backlog, priority has no effect.
 */
public enum Priority {
    HIGH(0),
    /** The default. */
    NORMAL(1),
    BULK(2);

    private static final Priority[] BY_CODE = values();

    private final int code;

    Priority(int code) {
        this.code = code;
    }

    /** The code that the database stores. */
    public int code() {
        return code;
    }

    /** @throws IllegalArgumentException if no priority has this code */
    public static Priority ofCode(int code) {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IllegalArgumentException("priority code must be between 0 and 2, was " + code);
        }
        return BY_CODE[code];
    }
}
