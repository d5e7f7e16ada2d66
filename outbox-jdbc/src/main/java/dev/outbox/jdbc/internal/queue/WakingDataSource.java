package dev.outbox.jdbc.internal.queue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Wraps a data source so that its connections are {@link AfterCommit}; everything else goes to the original. */
final class WakingDataSource {
    private WakingDataSource() {}

    static DataSource around(DataSource dataSource) {
        return (DataSource) proxy(
                (self, method, arguments) -> {
                    Object answer = callWrapped(self, dataSource, method, arguments);
                    return answer instanceof Connection connection
                                    && method.getName().equals("getConnection")
                            ? around(connection)
                            : answer;
                },
                DataSource.class);
    }

    private static Connection around(Connection connection) {
        return (Connection) proxy(new WakingConnection(connection), Connection.class, AfterCommit.class);
    }

    private static Object proxy(InvocationHandler handler, Class<?>... interfaces) {
        return Proxy.newProxyInstance(WakingDataSource.class.getClassLoader(), interfaces, handler);
    }

    /** A wrapper is equal to itself only, and unwraps to itself if a caller asks for its type. */
    private static @Nullable Object callWrapped(
            Object self, Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        return switch (method.getName()) {
            case "equals" -> self == first(arguments);
            case "hashCode" -> System.identityHashCode(self);
            case "unwrap" -> isInstance(first(arguments), self) ? self : call(target, method, arguments);
            case "isWrapperFor" -> isInstance(first(arguments), self) ? true : call(target, method, arguments);
            default -> call(target, method, arguments);
        };
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private static @Nullable Object first(Object @Nullable [] arguments) {
        return arguments == null ? null : arguments[0];
    }

    private static boolean isInstance(@Nullable Object type, Object self) {
        return type instanceof Class<?> known && known.isInstance(self);
    }

    /** Not thread-safe, as connections are not. */
    private static final class WakingConnection implements InvocationHandler {
        private final Connection connection;
        private final Set<Runnable> actions = new LinkedHashSet<>();

        WakingConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getDeclaringClass() == AfterCommit.class) {
                if (first(arguments) instanceof Runnable action) {
                    actions.add(action);
                }
                return null;
            }
            boolean commits = commits(method, arguments);
            Object answer = callWrapped(self, connection, method, arguments);
            if (commits) {
                run();
            } else if (forgets(method, arguments)) {
                actions.clear();
            }
            return answer;
        }

        /** Switching auto-commit on commits an open transaction. */
        private boolean commits(Method method, Object @Nullable [] arguments) throws Throwable {
            return switch (method.getName()) {
                case "commit" -> true;
                case "setAutoCommit" -> Boolean.TRUE.equals(first(arguments)) && !connection.getAutoCommit();
                default -> false;
            };
        }

        /** A rollback to a savepoint is none of these: messages that were enqueued before the savepoint stay. */
        private static boolean forgets(Method method, Object @Nullable [] arguments) {
            return switch (method.getName()) {
                case "close", "abort" -> true;
                case "rollback" -> arguments == null;
                default -> false;
            };
        }

        private void run() {
            List<Runnable> due = List.copyOf(actions);
            actions.clear();
            due.forEach(Runnable::run);
        }
    }
}
