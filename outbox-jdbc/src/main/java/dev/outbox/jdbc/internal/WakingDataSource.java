package dev.outbox.jdbc.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A data source whose connections are {@link AfterCommit}: the rest of them is the original's. */
public final class WakingDataSource {
    private WakingDataSource() {}

    public static DataSource around(DataSource dataSource) {
        return (DataSource) Proxy.newProxyInstance(
                WakingDataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> {
                    Object answer = call(dataSource, method, arguments);
                    return answer instanceof Connection connection ? around(connection) : answer;
                });
    }

    private static Connection around(Connection connection) {
        WakingConnection handler = new WakingConnection(connection);
        return (Connection) Proxy.newProxyInstance(
                WakingDataSource.class.getClassLoader(),
                new Class<?>[] {Connection.class, AfterCommit.class},
                handler::invoke);
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /** Not thread-safe, as connections are not. */
    private static final class WakingConnection {
        private final Connection connection;
        private final Set<Runnable> actions = new LinkedHashSet<>();

        WakingConnection(Connection connection) {
            this.connection = connection;
        }

        @Nullable
        Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getDeclaringClass() == AfterCommit.class) {
                actions.add((Runnable) first(arguments));
                return null;
            }
            switch (method.getName()) {
                case "unwrap", "isWrapperFor" -> {
                    if (first(arguments) == AfterCommit.class) {
                        return method.getName().equals("unwrap") ? self : true;
                    }
                }
                case "equals" -> {
                    return self == first(arguments);
                }
                case "hashCode" -> {
                    return System.identityHashCode(self);
                }
                default -> {}
            }
            boolean commits = method.getName().equals("commit")
                    || (method.getName().equals("setAutoCommit")
                            && Boolean.TRUE.equals(first(arguments))
                            && !connection.getAutoCommit());
            Object answer = call(connection, method, arguments);
            if (commits) {
                run();
            } else if (method.getName().equals("close") || (method.getName().equals("rollback") && arguments == null)) {
                actions.clear();
            }
            return answer;
        }

        private void run() {
            Set<Runnable> due = new LinkedHashSet<>(actions);
            actions.clear();
            due.forEach(Runnable::run);
        }

        private static Object first(Object @Nullable [] arguments) {
            return arguments == null ? WakingConnection.class : arguments[0];
        }
    }
}
