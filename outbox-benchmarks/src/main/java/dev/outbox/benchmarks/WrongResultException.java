package dev.outbox.benchmarks;

/** A contender gave a wrong result, so its figures are void. */
final class WrongResultException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongResultException(String message) {
        super(message);
    }
}
