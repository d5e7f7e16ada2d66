package dev.outbox.migrations;

import java.time.Duration;
import java.util.Locale;

/**
 * The progress of a backfill.
 *
 * @param table the table, with its schema
 * @param done the rows that this run has completed
 * @param remaining the rows that are left
 * @param elapsed the time since this run began
 * @param waitingFor why it waits before it continues; empty if it does not wait
 */
public record BackfillProgress(String table, long done, long remaining, Duration elapsed, String waitingFor) {
    /** The progress in one line of text. */
    @Override
    public String toString() {
        long rate = done * 1_000 / Math.max(1, elapsed.toMillis());
        return String.format(
                Locale.ROOT,
                "backfill of %s: %,d rows done, %,d to go, %,d rows/s%s",
                table,
                done,
                remaining,
                rate,
                waitingFor.isEmpty() ? "" : ", waiting: " + waitingFor);
    }
}
