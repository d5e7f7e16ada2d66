package dev.outbox.testkit;

import dev.outbox.Message;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A connection of an {@link InMemoryOutbox}. It begins and ends transactions and runs no SQL. Not thread-safe. */
final class InMemoryConnection implements InvocationHandler {
    private final Consumer<List<Message>> onCommit;
    private final List<Message> pending = new ArrayList<>();
    private boolean autoCommit = true;
    private boolean closed;

    private InMemoryConnection(Consumer<List<Message>> onCommit) {
        this.onCommit = onCommit;
    }

    /** What a connection of this kind unwraps to. */
    interface Pending {
        /** The messages of the open transaction. The outbox adds to them. */
        List<Message> messages();
    }

    static DataSource dataSource(Consumer<List<Message>> onCommit) {
        return (DataSource) proxy(DataSource.class, (self, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return proxy(Connection.class, new InMemoryConnection(onCommit));
            }
            return ofObject(self, method, arguments);
        });
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(InMemoryConnection.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws SQLException {
        switch (method.getName()) {
            case "close" -> {
                pending.clear();
                closed = true;
                return null;
            }
            case "isClosed" -> {
                return closed;
            }
            case "isWrapperFor" -> {
                return first(arguments) == Pending.class;
            }
            case "equals", "hashCode", "toString" -> {
                return ofObject(self, method, arguments);
            }
            default -> {
                if (closed) {
                    throw new SQLException("the connection is closed");
                }
                return open(method, arguments);
            }
        }
    }

    private @Nullable Object open(Method method, Object @Nullable [] arguments) throws SQLException {
        switch (method.getName()) {
            case "getAutoCommit" -> {
                return autoCommit;
            }
            case "setAutoCommit" -> {
                boolean wanted = Boolean.TRUE.equals(first(arguments));
                if (wanted && !autoCommit) {
                    commit();
                }
                autoCommit = wanted;
                return null;
            }
            case "commit" -> {
                commit();
                return null;
            }
            case "rollback" -> {
                pending.clear();
                return null;
            }
            case "isReadOnly" -> {
                return false;
            }
            case "getTransactionIsolation" -> {
                return Connection.TRANSACTION_READ_COMMITTED;
            }
            case "unwrap" -> {
                return (Pending) () -> pending;
            }
            default -> throw unsupported(method);
        }
    }

    private void commit() {
        List<Message> committed = List.copyOf(pending);
        pending.clear();
        if (!committed.isEmpty()) {
            onCommit.accept(committed);
        }
    }

    private static @Nullable Object first(Object @Nullable [] arguments) {
        return arguments == null ? null : arguments[0];
    }

    private static Object ofObject(Object self, Method method, Object @Nullable [] arguments) throws SQLException {
        return switch (method.getName()) {
            case "equals" -> self == first(arguments);
            case "hashCode" -> System.identityHashCode(self);
            case "toString" -> "in-memory outbox";
            default -> throw unsupported(method);
        };
    }

    private static SQLFeatureNotSupportedException unsupported(Method method) {
        return new SQLFeatureNotSupportedException("an in-memory outbox has no database behind it, so that "
                + method.getName() + " does nothing; test with a PostgresExtension");
    }
}
