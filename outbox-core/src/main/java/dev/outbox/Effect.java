package dev.outbox;

import java.sql.Connection;

/**
 * The effect of a message, written in the transaction that records its arrival. It returns nothing, unlike {@link
 * TransactionWork}.
 *
 * @param <X> the exception that it may throw, which reaches the caller unchanged
 */
@FunctionalInterface
public interface Effect<X extends Exception> {
    void in(Connection tx) throws X;
}
