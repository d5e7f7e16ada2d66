package dev.outbox.benchmarks;

/** A system that stores single messages and delivers each as soon as it is committed. */
interface Courier {
    String name();

    String settings();

    /** Stores what has to be there before anything is started. By default nothing. */
    default void prepare(Trial trial) throws Exception {}

    /** Starts everything. */
    Line start(Database database, Arrivals arrivals) throws Exception;

    /**
     * Looks at the tables after everything was delivered and stopped.
     *
     * @throws WrongResultException if they are not as they should be
     */
    default void check(Database database) throws Exception {}

    /** A running system. */
    interface Line extends Running {
        /** One transaction: an order and this message. Called by several threads. */
        void commit(int number) throws Exception;
    }
}
