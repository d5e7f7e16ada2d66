package dev.outbox.migrations;

import java.time.Duration;
import java.util.Locale;

/**
 * How far a backfill is.
 *
 * @param table the table, with its schema
 * @param done rows completed by this run
 * @param remaining rows still to do
 * @param elapsed since this run began
 * @param waitingFor what it waits for before it goes on, or an empty text
 */
public record BackfillProgress(String table, long done, long remaining, Duration elapsed, String waitingFor) {
    /** One plain line. */
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
