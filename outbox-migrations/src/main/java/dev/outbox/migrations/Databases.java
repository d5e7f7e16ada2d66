package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import javax.sql.DataSource;

/**
 * The same tables in many databases, for example one per tenant. Each table has a phase of its own.
 *
 * <p>A method handles each table of each database in turn; if one fails, the others are still handled. Immutable and
 * thread-safe.
 */
public final class Databases {
    /**
     * The result for one table of one database.
     *
     * @param database its name
     * @param table the table's name
     * @param report the state of the table afterwards; empty if it could not be read
     * @param failure why the table was not handled; empty if it was
     */
    public record Result(
            String database, String table, Optional<TableReport> report, Optional<OutboxException> failure) {
        public boolean succeeded() {
            return failure.isEmpty();
        }

        /** The result in one line, for people. */
        @Override
        public String toString() {
            return database + "/" + table + ": "
                    + failure.map(Throwable::getMessage)
                            .orElseGet(() -> report.map(found -> found.phase()
                                            + (found.phase() == found.next() ? "" : ", next " + found.next())
                                            + (found.obstacles(found.next()).isEmpty()
                                                    ? ""
                                                    : ", in the way: " + found.obstacles(found.next())))
                                    .orElse("unknown"));
        }
    }

    private final Map<String, DataSource> dataSources;
    private final List<Upgrade> upgrades;

    private Databases(Map<String, DataSource> dataSources, List<Upgrade> upgrades) {
        this.dataSources = Collections.unmodifiableMap(new LinkedHashMap<>(dataSources));
        this.upgrades = List.copyOf(upgrades);
    }

    /**
     * @param dataSources the databases by name; results and errors use these names
     * @param upgrades the tables that each of them has
     */
    public static Databases of(Map<String, DataSource> dataSources, Upgrade... upgrades) {
        return new Databases(dataSources, List.of(upgrades));
    }

    /** The phase of each table, and what prevents its next one. Changes nothing. */
    public List<Result> status() {
        return each((upgrade, dataSource) -> upgrade.report(dataSource));
    }

    /** Takes each table that is before this phase to it. A table whose next phase is another one reports a failure. */
    public List<Result> apply(Phase phase) {
        return each((upgrade, dataSource) -> {
            if (upgrade.phase(dataSource).compareTo(phase) < 0) {
                upgrade.apply(dataSource, phase);
            }
            return upgrade.report(dataSource);
        });
    }

    /** Completes the rows of each table that is in a phase with something to complete. */
    public List<Result> backfill() {
        return each((upgrade, dataSource) -> {
            Phase phase = upgrade.phase(dataSource);
            if (phase != Phase.LEGACY && phase != Phase.CLEAN) {
                upgrade.backfill().run(dataSource);
            }
            return upgrade.report(dataSource);
        });
    }

    /** The SQL that would take each table to its next phase, by database and table. Changes nothing. */
    public Map<String, String> plan() {
        Map<String, String> plan = new LinkedHashMap<>();
        status().forEach(result -> plan.put(result.database() + "/" + result.table(), sql(result)));
        return plan;
    }

    private String sql(Result result) {
        if (result.report().isEmpty()) {
            return "-- " + result;
        }
        TableReport report = result.report().get();
        if (report.phase() == report.next()) {
            return "-- nothing to do\n";
        }
        Upgrade upgrade = upgrades.stream()
                .filter(candidate -> candidate.table().equals(result.table()))
                .findFirst()
                .orElseThrow();
        try {
            return upgrade.render(Objects.requireNonNull(dataSources.get(result.database())), report.next());
        } catch (RuntimeException e) {
            return "-- " + result.database() + "/" + result.table() + ": " + e.getMessage() + "\n";
        }
    }

    /**
     * Lets an application fail at its start if the schema is wrong. It reads all rows of a table that is not in phase 4 yet.
     *
     * @throws OutboxException that names every problem of every table of every database
     */
    public void verify() {
        List<String> problems = new ArrayList<>();
        for (Result result : status()) {
            String where = result.database() + "/" + result.table() + ": ";
            result.failure().ifPresent(failure -> problems.add(where + failure.getMessage()));
            result.report()
                    .ifPresent(report -> report.problems().forEach(problem -> problems.add(where + problem.text())));
        }
        if (!problems.isEmpty()) {
            throw new OutboxException("the schema is wrong in " + problems.size()
                    + (problems.size() == 1 ? " place:\n  " : " places:\n  ") + String.join("\n  ", problems));
        }
    }

    private List<Result> each(BiFunction<Upgrade, DataSource, TableReport> task) {
        List<Result> results = new ArrayList<>();
        dataSources.forEach((database, dataSource) -> {
            for (Upgrade upgrade : upgrades) {
                try {
                    TableReport report = task.apply(upgrade, dataSource);
                    results.add(new Result(database, upgrade.table(), Optional.of(report), Optional.empty()));
                } catch (RuntimeException e) { // a pool or driver may throw anything
                    results.add(new Result(
                            database, upgrade.table(), report(upgrade, dataSource), Optional.of(failure(e))));
                }
            }
        });
        return results;
    }

    private static OutboxException failure(RuntimeException e) {
        return e instanceof OutboxException ours ? ours : new OutboxException(e.toString(), e, false);
    }

    /** The state of a table that could not be handled; empty if its database cannot be read at all. */
    private static Optional<TableReport> report(Upgrade upgrade, DataSource dataSource) {
        try {
            return Optional.of(upgrade.report(dataSource));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }
}
