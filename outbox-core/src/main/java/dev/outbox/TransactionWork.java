package dev.outbox;

import java.sql.Connection;

/**
 * Work that runs inside a transaction and returns a result.
 *
 * @param <T> the type of the result
 * @param <X> the exception that it may throw, which reaches the caller unchanged
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    T in(Connection tx) throws X;
}
