package dev.outbox.benchmarks;

import javax.sql.DataSource;

/** A system that delivers what is stored. */
interface Relay {
    /** Connections of each node of each system; a system takes as many of them as it can use. */
    int CONNECTIONS = 24;

    /** Messages taken at a time, where a system has such a setting. */
    int BATCH = 500;

    String name();

    String settings();

    /** Makes the tables and fills them. */
    void store(Database database, Backlog backlog) throws Exception;

    /** Starts one node on a pool of its own; stopping it settles what it delivered. */
    Running start(DataSource pool, Deliveries deliveries) throws Exception;

    /** How many stored messages it still has to deliver. */
    long unfinished(Database database) throws Exception;

    /** Peers that are much slower may take fewer messages, for everybody's patience. */
    default Backlog fitting(Backlog backlog) {
        return backlog;
    }
}
