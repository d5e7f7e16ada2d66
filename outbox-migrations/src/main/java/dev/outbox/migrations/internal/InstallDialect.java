package dev.outbox.migrations.internal;

import dev.outbox.jdbc.internal.catalog.TableName;
import java.util.List;

/** How one database installs tables. */
public interface InstallDialect {
    /** The script for this table, to be run or read. */
    String render(InstallScript script, TableName table);

    /** Makes nodes that start together install one after the other; it is run in a transaction. */
    String serialize();

    /** The names of the lookup indexes, after that of their table. */
    List<String> lookupSuffixes();

    /** How long the name of a table may be whose indexes and constraints are named after it. */
    int longestName();
}
