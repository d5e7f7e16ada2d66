package dev.outbox.benchmarks;

import javax.sql.DataSource;

/** A system that stores messages in the transaction of a business change. */
interface Writer {
    String name();

    String settings();

    void install(Database database) throws Exception;

    /** How many of this many transactions store a message; the others repeat a known one. */
    default long effective(long transactions) {
        return transactions;
    }

    /** Opens a session for one thread. */
    Session open(DataSource pool) throws Exception;

    /** How many messages are stored. */
    long stored(Database database) throws Exception;

    /** Not thread-safe. */
    @FunctionalInterface
    interface Session {
        /** One transaction: an order, and as many messages, numbered from {@code first}. */
        void commit(int first, int messages) throws Exception;
    }
}
