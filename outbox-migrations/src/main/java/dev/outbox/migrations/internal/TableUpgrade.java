package dev.outbox.migrations.internal;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.TableReport;
import java.sql.SQLException;
import java.util.List;

/** What leads one table, as it was found in the catalog, from phase to phase. */
public interface TableUpgrade {
    /** With its schema. */
    TableName name();

    Phase phase();

    TableReport report() throws SQLException;

    /** What leads to this phase. The steps of {@link Phase#RENAMING} are those that come after its backfill. */
    List<Step> steps(Phase phase);

    /** What has to be done before the backfill that belongs to {@link Phase#RENAMING}; empty if nothing is left to do. */
    List<Step> stepsBeforeRenaming();

    /** What leads back to this phase from the one after it. */
    List<Step> stepsBack(Phase phase);

    BackfillStatements backfill();

    /**
     * What leads to this phase, as plain SQL.
     *
     * @throws dev.outbox.OutboxException if something is in the way that the script would not ask again
     */
    String script(Phase phase) throws SQLException;
}
