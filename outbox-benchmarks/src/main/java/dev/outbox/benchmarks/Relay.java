package dev.outbox.benchmarks;

import javax.sql.DataSource;

/** A system that delivers what is stored. */
interface Relay {
    /** The connections of each node; a system uses as many of them as it can. */
    int CONNECTIONS = 24;

    /** The batch size, where a system has such a setting. */
    int BATCH = 500;

    String name();

    String settings();

    /** Creates the tables and fills them. */
    void store(Database database, Backlog backlog) throws Exception;

    /** Starts one node on a pool of its own; stopping it settles what it delivered. */
    Running start(DataSource pool, Deliveries deliveries) throws Exception;

    /** How many stored messages it still has to deliver. */
    long unfinished(Database database) throws Exception;

    /** Peers that are much slower may get fewer messages, so that a run ends in reasonable time. */
    default Backlog fitting(Backlog backlog) {
        return backlog;
    }
}
