package dev.outbox.admin.internal;

import java.time.Duration;

/**
 * The limits of the doctor that its checks of a database need.
 *
 * @param transaction how long a transaction may be open
 * @param deadTuples how many row versions may wait for vacuum
 * @param tableBytes how large a table may be
 * @param slotAge how many transactions back a replication slot may keep rows
 */
public record CheckLimits(Duration transaction, long deadTuples, long tableBytes, long slotAge) {}
