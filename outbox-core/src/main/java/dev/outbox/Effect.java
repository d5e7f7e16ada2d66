package dev.outbox;

import java.sql.Connection;

/**
 * What a message does, written in the transaction that records its arrival. It answers nothing; {@link TransactionWork} does.
 *
 * @param <X> what it may throw; it reaches the caller unchanged
 */
@FunctionalInterface
public interface Effect<X extends Exception> {
    void in(Connection tx) throws X;
}
