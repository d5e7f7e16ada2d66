package dev.outbox.benchmarks;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A DataSource that always returns the connection of the current transaction and ignores its close. */
final class CurrentConnection {
    private @Nullable Connection connection;
    private final Connection kept = proxy(Connection.class, this::call);

    @FunctionalInterface
    private interface Call {
        @Nullable
        Object call(Method method, Object @Nullable [] arguments) throws Throwable;
    }

    void set(Connection connection) {
        this.connection = connection;
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return kept;
            }
            throw new UnsupportedOperationException(method.getName());
        });
    }

    private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.getName().equals("close")) {
            return null;
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader() == null ? CurrentConnection.class.getClassLoader() : type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call.call(method, arguments)));
    }
}
