package dev.outbox.benchmarks;

/**
 * One contender's turn in one round.
 *
 * @param database the contender's, so that no contender inherits what another left behind
 */
record Trial(Server server, Database database, Scale scale) {}
