package dev.outbox.benchmarks;

/**
 * One contender's turn in one round.
 *
 * @param database empty at first, so that nobody inherits what another left behind
 */
record Trial(Server server, Database database, Scale scale) {}
