package dev.outbox.migrations.internal;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The statements of a backfill, for one table of one database. Rows to do are on a list, by their positions. */
public interface BackfillStatements {
    /** Writes the list, unless that was done before: all of it, or nothing. */
    List<String> list();

    String remaining();

    String first();

    String last();

    /** Completes the rows of the range that no other session has locked. */
    String complete(String after, String to);

    /** Takes from the list what is complete of the range, or deleted. */
    String crossOff(String after, String to);

    /** Drops the list. */
    String forget();

    String incomplete();

    /** How many dead rows vacuum has before it, if the database has a vacuum. */
    Optional<String> deadTuples();

    /** How far the slowest standby is behind, in milliseconds, if the database can be asked. */
    Optional<String> lag();

    /** Whether another run has come to its end and dropped the list. */
    boolean isListGone(SQLException e);

    /** Whether the database rolled the transaction back to end a deadlock. */
    boolean isDeadlock(SQLException e);

    /** The whole job as plain SQL, which commits as it goes: not to be run in a transaction. */
    String script(int batch, Duration pause);
}
