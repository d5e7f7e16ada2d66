package dev.outbox.admin;

import dev.outbox.OutboxException;

/** An outbox or inbox table is missing. The message names it and says what to do. */
public final class NoSuchTableException extends OutboxException {
    private static final long serialVersionUID = 1L;

    NoSuchTableException(String message) {
        super(message);
    }
}
