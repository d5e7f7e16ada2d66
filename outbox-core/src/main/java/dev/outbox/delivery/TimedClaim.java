package dev.outbox.delivery;

import dev.outbox.spi.Claim;

/**
 * A claim as this poller made it.
 *
 * @param number counts the poller's claims
 * @param began when it was sent, by the poller's ticker
 * @param deadline when its leases end, counted from then: never later than the database's end
 */
record TimedClaim(Claim claim, long number, long began, long deadline) {}
