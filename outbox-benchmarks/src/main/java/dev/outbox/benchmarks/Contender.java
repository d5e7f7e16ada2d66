package dev.outbox.benchmarks;

/** One way to do what a scenario asks. */
interface Contender {
    /** The name under which it is printed, charted and recorded. */
    String name();

    /** Version, volume and everything that was tuned, for the printout. */
    String settings();

    /** The database that it works on: empty at first, unless the contender changes nothing. */
    default Database database(Server server, Scale scale) throws Exception {
        return server.emptyDatabase();
    }

    /**
     * Runs the scenario once.
     *
     * @throws WrongResultException if a message was lost, duplicated or out of order, which voids the whole run
     */
    Measurement run(Trial trial) throws Exception;
}
