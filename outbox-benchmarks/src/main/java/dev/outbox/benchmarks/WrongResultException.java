package dev.outbox.benchmarks;

/** A contender did not do what it was measured for. */
final class WrongResultException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongResultException(String message) {
        super(message);
    }
}
