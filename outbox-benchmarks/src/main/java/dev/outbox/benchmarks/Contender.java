package dev.outbox.benchmarks;

/** One way to do what a scenario asks. */
interface Contender {
    /** Under this name it is printed, charted and written down. */
    String name();

    /** Version, volume and everything that was tuned, for the printout. */
    String settings();

    /** What it works on: empty at first, unless it changes nothing. */
    default Database database(Server server, Scale scale) throws Exception {
        return server.emptyDatabase();
    }

    /**
     * Does it once.
     *
     * @throws WrongResultException if something was lost, doubled or out of order, which voids the whole run
     */
    Measurement run(Trial trial) throws Exception;
}
