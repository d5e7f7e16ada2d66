package dev.outbox;

/**
 * Thrown by a destination for an item that no retry can help: the item becomes Dead at once, even if it has attempts
 * left.
 */
public class PermanentFailureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message kept as the item's last error; must not contain the payload */
    public PermanentFailureException(String message) {
        super(message);
    }

    /** @param message kept as the item's last error; must not contain the payload */
    public PermanentFailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
