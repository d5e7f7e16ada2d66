package dev.outbox.torture;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A data source that changes statements on their way to the database; for mutants. */
final class Rewriting {
    private Rewriting() {}

    /** The statement that claims keys. */
    static DataSource claimOfKeys(DataSource honest, UnaryOperator<String> change) {
        return each(honest, sql -> sql.contains("outbox.heads") ? change.apply(sql) : sql);
    }

    /** Any statement. */
    static DataSource each(DataSource honest, UnaryOperator<String> change) {
        return proxy(DataSource.class, (self, method, arguments) -> {
            Object answer = call(honest, method, arguments);
            if (!(answer instanceof Connection connection)) {
                return answer;
            }
            return proxy(Connection.class, (it, called, given) -> {
                change(called, "prepareStatement", given, change);
                Object made = call(connection, called, given);
                return called.getName().equals("createStatement")
                        ? proxy(Statement.class, (plain, execute, sql) -> {
                            change(execute, "execute", sql, change);
                            return call(made, execute, sql);
                        })
                        : made;
            });
        });
    }

    private static void change(Method method, String name, Object[] arguments, UnaryOperator<String> change) {
        if (method.getName().equals(name)) {
            arguments[0] = change.apply((String) arguments[0]);
        }
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Rewriting.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
