package dev.outbox;

/**
 * The connection was lost while a transaction was being committed, so its outcome is unknown. Running the same
 * work again may store everything twice: {@link #isRetryable()} is false. Look for the effects of the transaction first,
 * or make the repetition harmless with an id of your own, for the message and for your own rows.
 */
public class UnknownCommitException extends OutboxException {
    private static final long serialVersionUID = 1L;

    public UnknownCommitException(String message, Throwable cause) {
        super(message, cause, false);
    }
}
