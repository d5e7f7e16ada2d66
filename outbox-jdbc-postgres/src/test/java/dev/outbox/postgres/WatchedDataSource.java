package dev.outbox.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Keeps the SQL of everything executed on the connections of a data source, and can stand in its way. */
final class WatchedDataSource {
    private final DataSource dataSource;
    private final List<String> executed = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile Gate gate = sql -> true;

    /** Asked before each statement. */
    interface Gate {
        /** False leaves the statement out. */
        boolean passes(String sql) throws Exception;
    }

    private WatchedDataSource(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    static WatchedDataSource around(DataSource dataSource) {
        return new WatchedDataSource(dataSource);
    }

    DataSource dataSource() {
        return proxy(DataSource.class, dataSource, (method, arguments, answer) -> {
            if (answer instanceof Connection connection) {
                connections.incrementAndGet();
                return around(connection);
            }
            return answer;
        });
    }

    WatchedDataSource gate(Gate gate) {
        this.gate = gate;
        return this;
    }

    List<String> executed() {
        return executed;
    }

    long count(String start) {
        return executed.stream().filter(sql -> sql.contains(start)).count();
    }

    /** How many connections were taken so far. */
    int connections() {
        return connections.get();
    }

    private Connection around(Connection connection) {
        return proxy(Connection.class, connection, (method, arguments, answer) -> {
            if (answer instanceof PreparedStatement statement) {
                return around(PreparedStatement.class, statement, (String) arguments[0]);
            }
            return answer instanceof Statement statement ? around(Statement.class, statement, null) : answer;
        });
    }

    private <T extends Statement> T around(Class<T> type, T statement, String prepared) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getName().startsWith("execute")) {
                        String sql = prepared == null ? (String) arguments[0] : prepared;
                        executed.add(sql);
                        if (!gate.passes(sql)) {
                            return false;
                        }
                    }
                    return call(statement, method, arguments);
                }));
    }

    private interface Change {
        Object of(Method method, Object[] arguments, Object answer);
    }

    private static <T> T proxy(Class<T> type, T target, Change change) {
        return type.cast(Proxy.newProxyInstance(
                WatchedDataSource.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> change.of(method, arguments, call(target, method, arguments))));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
