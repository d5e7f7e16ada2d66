package dev.outbox;

import java.sql.Connection;

/**
 * What happens inside a transaction, and its answer.
 *
 * @param <T> what it answers
 * @param <X> what it may throw; it reaches the caller unchanged
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    T in(Connection tx) throws X;
}
