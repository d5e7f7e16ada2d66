package dev.outbox.migrations;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The statements of a backfill, for one table of one database. */
interface BackfillSql {
    /** Writes down what is to do, unless that was done before: all of it, or nothing. */
    List<String> list();

    String remaining();

    String first();

    String last();

    /** Completes what is free of the range. */
    String complete(String after, String to);

    /** Forgets what is complete of the range, or gone. */
    String crossOff(String after, String to);

    String forget();

    String incomplete();

    /** How many dead rows vacuum has before it, where there is such a thing. */
    Optional<String> deadTuples();

    /** How far the slowest standby is behind, in milliseconds, where that can be asked. */
    Optional<String> lag();

    /** The whole job as plain SQL, which commits as it goes: not to be run in a transaction. */
    String script(int batch, Duration pause);
}
