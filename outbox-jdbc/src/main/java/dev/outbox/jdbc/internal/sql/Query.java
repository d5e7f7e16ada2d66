package dev.outbox.jdbc.internal.sql;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One execution of an {@link Sql}: parameters by name, then run. */
public final class Query implements AutoCloseable {
    private final PreparedStatement statement;
    private final Map<String, int[]> positions;
    private final List<Map<String, int[]>> parts;

    /** Whether there are rows that nobody has asked for yet. */
    private boolean atRows;

    Query(PreparedStatement statement, Map<String, int[]> positions, List<Map<String, int[]>> parts) {
        this.statement = statement;
        this.positions = positions;
        this.parts = parts;
    }

    /** To set the parameters of one of several statements that are sent together; the first one is 0. */
    public Query part(int number) {
        return new Query(statement, parts.get(number), List.of());
    }

    public Query set(String name, @Nullable Object value) throws SQLException {
        for (int position : at(name)) {
            if (value instanceof Parameter parameter) {
                parameter.set(statement, position);
            } else {
                statement.setObject(position, value);
            }
        }
        return this;
    }

    /**
     * An array of the database's element type; null elements are allowed. A null array has its type too: PostgreSQL's driver
     * would ask the server for a missing type, and would then send the statements of one query one by one.
     */
    public Query setArray(String name, String type, Object @Nullable [] elements) throws SQLException {
        java.sql.Array array =
                elements == null ? null : statement.getConnection().createArrayOf(type, elements);
        for (int position : at(name)) {
            if (array == null) {
                statement.setNull(position, Types.ARRAY, type + "[]");
            } else {
                statement.setArray(position, array);
            }
        }
        return this;
    }

    /** A length of time in microseconds, or null. */
    public Query set(String name, @Nullable Duration length) throws SQLException {
        return set(name, (Object) (length == null ? null : micros(length)));
    }

    /** What only one driver's statements know. */
    public interface Setting<T> {
        void on(T statement) throws SQLException;
    }

    /** Applies a driver's own setting; does nothing where the statement is another driver's. */
    public <T> Query where(Class<T> driversStatement, Setting<T> setting) throws SQLException {
        if (statement.isWrapperFor(driversStatement)) {
            setting.on(statement.unwrap(driversStatement));
        }
        return this;
    }

    /** It is cancelled if it takes longer; in whole seconds, rounded up. */
    public Query within(Duration limit) throws SQLException {
        statement.setQueryTimeout(
                Math.toIntExact(limit.plusSeconds(1).minusNanos(1).toSeconds()));
        return this;
    }

    public ResultSet rows() throws SQLException {
        return statement.executeQuery();
    }

    /** Runs several statements in one; then ask for the rows of each. */
    public void execute() throws SQLException {
        atRows = statement.execute();
    }

    /** The answer of the next statement that has rows for an answer. */
    public ResultSet nextRows() throws SQLException {
        while (!atRows) {
            atRows = statement.getMoreResults();
            if (!atRows && statement.getUpdateCount() == -1) {
                throw new IllegalStateException("the statement has no more rows for an answer");
            }
        }
        atRows = false;
        return statement.getResultSet();
    }

    /** Runs it and answers how many rows it changed. */
    public int update() throws SQLException {
        return statement.executeUpdate();
    }

    /** Notes the parameters as they are now, for {@link #updateAll}. */
    public void add() throws SQLException {
        statement.addBatch();
    }

    /** Runs it with each of the parameters that were added, in that order. */
    public void updateAll() throws SQLException {
        statement.executeBatch();
    }

    @Override
    public void close() throws SQLException {
        statement.close();
    }

    private static long micros(Duration length) {
        return Math.addExact(Math.multiplyExact(length.getSeconds(), 1_000_000L), length.getNano() / 1_000);
    }

    private int[] at(String name) {
        int[] at = positions.get(name);
        if (at == null) {
            throw new IllegalArgumentException("the statement has no parameter :" + name);
        }
        return at;
    }
}
