package dev.outbox.admin.internal;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What differs between the databases: how columns are spelled, the statements, and what the doctor checks. */
public interface AdminDialect {
    Database database();

    /** The name of this column in the table, not quoted; empty if the table does not have it. */
    Optional<String> spelling(FoundTable table, String column);

    /** Logical columns that statements name beside those of every table. */
    List<String> moreColumns();

    /**
     * What else stands for a logical name in the statements over a table.
     *
     * @param columns the quoted columns of the table by their logical names
     */
    Map<String, String> expressions(FoundTable table, Map<String, String> columns);

    /** A statement that is planned for the values it gets: a filter that is not given must not cost anything. */
    Query planned(Query query) throws SQLException;

    /** A text as a parameter. */
    Object text(String text);

    /** What the search by a key compares. */
    ExactKey exactKey();

    DeadLetterStatements deadLetters();

    LookupStatements lookup();

    StatusStatements status();

    PurgeStatements purge();

    Checks checks(AdminSession session, CheckLimits limits);
}
