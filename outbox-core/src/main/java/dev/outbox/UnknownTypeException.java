package dev.outbox;

import dev.outbox.delivery.PollerBuilder;

/**
 * Thrown by a {@link PayloadSerializer} that does not know the type name of a body. Do not catch it in a destination. A
 * newer version of the application may know it, so the item is given back without counting an attempt, and is tried
 * again after a pause that grows from a second to a minute. Once it is older than the poller's {@link
 * PollerBuilder#maxAge maximum age}, it is Dead. Until then it holds back the later items of its key.
 */
public class UnknownTypeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message kept as the item's last error; names the type, and must not contain the payload */
    public UnknownTypeException(String message) {
        super(message);
    }
}
