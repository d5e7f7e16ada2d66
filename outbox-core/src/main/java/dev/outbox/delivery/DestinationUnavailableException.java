package dev.outbox.delivery;

/**
 * Thrown by a destination that knows that it cannot be reached at the moment, whatever the message: the broker is
 * down, or the connection pool is closed. The attempt does not count. After a few such failures in a row the poller calls
 * the destination less often, until one call succeeds. {@link PollerBuilder#maxAge} bounds how long a message can wait.
 */
public class DestinationUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message kept as the item's last error; must not contain the payload */
    public DestinationUnavailableException(String message) {
        super(message);
    }

    /** @param message kept as the item's last error; must not contain the payload */
    public DestinationUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
