package dev.outbox.admin.internal;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Statements about what has been Done for longer than {@code older_than}. */
public interface PurgeStatements {
    /** Counts up to {@code most}. */
    String count();

    /** Answers the consumers of an inbox, where a purge removes the rows of one after the other. */
    Optional<String> consumers(TableKind kind);

    /** Removes one batch, of the consumer {@code consumer} if there are consumers. */
    String remove();

    /** Runs {@link #remove} and answers how many rows it removed. */
    int remove(Query query, Duration olderThan, int batch) throws SQLException;
}
