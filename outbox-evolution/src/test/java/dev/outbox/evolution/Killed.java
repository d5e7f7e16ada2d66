package dev.outbox.evolution;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Whoever works by it is killed at a certain statement; if that builds an index, the index is left invalid. */
public final class Killed {
    private static final Pattern BUILD = Pattern.compile("INDEX CONCURRENTLY IF NOT EXISTS (\\S+)");

    private final DataSource real;
    private final int at;
    private final Predicate<String> counted;
    private int executed;

    /**
     * @param at the number of the statement, counted from 1 over all connections
     * @param counted the methods that count as one, by their names
     */
    public Killed(DataSource real, int at, Predicate<String> counted) {
        this.real = real;
        this.at = at;
        this.counted = counted;
    }

    public boolean wasKilled() {
        return executed >= at;
    }

    public DataSource dataSource() {
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
            if (counted.test(method.getName()) && ++executed == at) {
                leaveInvalid(statement, String.valueOf(arguments[0]));
                connection.close();
                throw new SQLException("killed", "08006");
            }
            return call(statement, method, arguments);
        });
    }

    private static void leaveInvalid(Statement statement, String sql) throws SQLException {
        Matcher build = BUILD.matcher(sql);
        if (build.find()) {
            statement.execute(sql);
            statement.execute(
                    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '" + build.group(1) + "'::regclass");
        }
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
