package dev.outbox;

/**
 * The state of a work item.
 *
 * <p>Ready is claimed into Processing; Processing ends in Done or Dead, or goes back to Ready (retry,
 * release, expired lease). Only an operator's requeue leaves Dead.
 */
public enum Status {
    READY(0),
    PROCESSING(1),
    DONE(2),
    DEAD(3);

    private static final Status[] BY_CODE = values();

    private final int code;

    Status(int code) {
        this.code = code;
    }

    /** The code that the database stores. */
    public int code() {
        return code;
    }

    /** @throws IllegalArgumentException if no status has this code */
    public static Status ofCode(int code) {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IllegalArgumentException("status code must be between 0 and 3, was " + code);
        }
        return BY_CODE[code];
    }
}
