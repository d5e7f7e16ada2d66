package dev.outbox.sqlserver;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Whoever works by it is killed at a certain statement: its connection ends, and what was not committed with it. */
final class Killed {
    private final DataSource real;
    private final int at;
    private int executed;

    /** @param at the number of the statement, counted from 1 over all connections */
    Killed(DataSource real, int at) {
        this.real = real;
        this.at = at;
    }

    boolean wasKilled() {
        return executed >= at;
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (self, method, arguments) -> {
            Object answer = call(real, method, arguments);
            return answer instanceof Connection connection ? connection(connection) : answer;
        });
    }

    private Connection connection(Connection connection) {
        return proxy(Connection.class, (self, method, arguments) -> {
            Object answer = call(connection, method, arguments);
            return method.getName().equals("createStatement") && answer instanceof Statement statement
                    ? statement(connection, statement)
                    : answer;
        });
    }

    private Statement statement(Connection connection, Statement statement) {
        return proxy(Statement.class, (self, method, arguments) -> {
            if (method.getName().startsWith("execute") && ++executed == at) {
                connection.close();
                throw new SQLException("killed", "08006");
            }
            return call(statement, method, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Killed.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
