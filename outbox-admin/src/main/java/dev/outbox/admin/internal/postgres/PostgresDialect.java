package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.AdminDialect;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Checks;
import dev.outbox.admin.internal.DeadLetterStatements;
import dev.outbox.admin.internal.ExactKey;
import dev.outbox.admin.internal.LookupStatements;
import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.admin.internal.StatusStatements;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.postgresql.PGStatement;

/** PostgreSQL. */
public final class PostgresDialect implements AdminDialect {
    /** All consumers that have rows in an inbox, found by skipping through its key instead of reading all of it. */
    private static final String CONSUMERS = """
            (WITH RECURSIVE found AS (
                (SELECT consumer FROM %1$s ORDER BY consumer LIMIT 1)
                UNION ALL
                SELECT (SELECT next.consumer FROM %1$s AS next WHERE next.consumer > found.consumer
                    ORDER BY next.consumer LIMIT 1)
                FROM found WHERE found.consumer IS NOT NULL)
            SELECT consumer FROM found WHERE consumer IS NOT NULL)""";

    @Override
    public Database database() {
        return Database.POSTGRES;
    }

    @Override
    public Optional<String> spelling(FoundTable table, String column) {
        return Optional.of(column).filter(table::has);
    }

    @Override
    public List<String> moreColumns() {
        return List.of();
    }

    @Override
    public Map<String, String> expressions(FoundTable table, Map<String, String> columns) {
        Map<String, String> expressions = new HashMap<>();
        expressions.put("done", columns.get("status") + " = 2");
        // Means the same, but no index serves it: the rows are found by their places.
        expressions.put("still_done", columns.get("status") + " >= 2 AND " + columns.get("status") + " < 3");
        if (table.kind() == TableKind.INBOX) {
            expressions.put("consumers", CONSUMERS.formatted(Quoted.postgres(table.name())));
            expressions.put("of_consumer", columns.get("consumer") + " = c.consumer");
            expressions.put("same_consumer", "t." + columns.get("consumer") + " = heads.consumer");
            expressions.put("mine", columns.get("consumer") + " = :consumer");
        } else {
            expressions.put("consumer", "(NULL::text)");
            expressions.put("source", "(NULL::text)");
            expressions.put("first_seen_on", "(statement_timestamp())");
            expressions.put("consumers", "(SELECT NULL::text AS consumer)");
            expressions.put("of_consumer", "true");
            expressions.put("same_consumer", "true");
            expressions.put("mine", "true");
        }
        return expressions;
    }

    /** The server keeps no plan of it, because that would be one plan for all values. */
    @Override
    public Query planned(Query query) throws SQLException {
        return query.where(PGStatement.class, statement -> statement.setPrepareThreshold(0));
    }

    @Override
    public Object text(String text) {
        return text;
    }

    @Override
    public ExactKey exactKey() {
        return new ExactKey("message_key", "");
    }

    @Override
    public DeadLetterStatements deadLetters() {
        return new PostgresDeadLetters();
    }

    @Override
    public LookupStatements lookup() {
        return new PostgresLookup();
    }

    @Override
    public StatusStatements status() {
        return new PostgresStatus();
    }

    @Override
    public PurgeStatements purge() {
        return new PostgresPurge();
    }

    @Override
    public Checks checks(AdminSession session, CheckLimits limits) {
        return new PostgresChecks(session, limits);
    }
}
