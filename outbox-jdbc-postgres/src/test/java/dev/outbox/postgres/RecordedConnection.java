package dev.outbox.postgres;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A connection that remembers what was executed on it, and what ended its transactions. */
final class RecordedConnection {
    private final List<String> executed = new CopyOnWriteArrayList<>();
    private final List<String> ended = new CopyOnWriteArrayList<>();
    private final Connection connection;

    RecordedConnection(Connection real) {
        this.connection = proxy(Connection.class, (proxy, method, arguments) -> {
            if (List.of("commit", "rollback", "setAutoCommit", "close").contains(method.getName())) {
                ended.add(method.getName());
            }
            Object answer = method.invoke(real, arguments);
            return answer instanceof Statement statement
                    ? statement(statement, arguments == null ? "" : String.valueOf(arguments[0]))
                    : answer;
        });
    }

    Connection connection() {
        return connection;
    }

    List<String> executed() {
        return executed;
    }

    List<String> ended() {
        return ended;
    }

    private Object statement(Statement real, String sql) {
        Class<? extends Statement> type = real instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        return proxy(type, (proxy, method, arguments) -> {
            if (method.getName().startsWith("execute")) {
                executed.add(arguments == null ? sql : String.valueOf(arguments[0]));
            }
            return method.invoke(real, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return handler.invoke(self, method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
