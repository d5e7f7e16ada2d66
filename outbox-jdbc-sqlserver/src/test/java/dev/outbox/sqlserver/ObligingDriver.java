package dev.outbox.sqlserver;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Stands where a driver would, without a database: takes a statement if each of its parameters is set, and answers
 * one row that says nothing.
 */
final class ObligingDriver {
    private static final Map<String, String> ROW = Map.of(
            "to_key", "",
            "source", "shop",
            "message_id", "m-1",
            "schema_name", "dbo",
            "column_name", "Id",
            "type_name", "int",
            "index_name", "PK");

    private final Set<String> ran = new LinkedHashSet<>();
    private final String product;

    /** @param product the name of the database that it claims to lead to */
    ObligingDriver(String product) {
        this.product = product;
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (self, method, arguments) -> connection());
    }

    Connection connection() {
        return proxy(Connection.class, (self, method, arguments) -> switch (method.getName()) {
            case "prepareStatement" -> statement((String) arguments[0]);
            case "createStatement" -> proxy(Statement.class, ObligingDriver::nothing);
            case "getMetaData" -> proxy(DatabaseMetaData.class, (data, asked, none) -> product);
            case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
            default -> nothing(self, method, arguments);
        });
    }

    /** The statements that were run. */
    Set<String> ran() {
        return ran;
    }

    private PreparedStatement statement(String text) {
        Set<Object> set = new HashSet<>();
        return proxy(PreparedStatement.class, (self, method, arguments) -> {
            if (method.getName().equals("executeQuery")) {
                long parameters = text.chars().filter(c -> c == '?').count();
                if (set.size() != parameters) {
                    throw new AssertionError(set.size() + " of " + parameters + " parameters are set in: " + text);
                }
                ran.add(text);
                boolean ofLeases = text.contains(" AS token") || text.contains("FROM @expired");
                return rows(ofLeases ? 0 : 1); // of leases that were settled or ran out: none
            }
            if (method.getName().startsWith("set")) {
                set.add(arguments[0]);
            }
            return nothing(self, method, arguments);
        });
    }

    private static ResultSet rows(int count) {
        int[] rows = {count};
        return proxy(ResultSet.class, (self, method, arguments) -> switch (method.getName()) {
            case "next" -> rows[0]-- > 0;
            case "getInt" -> "found".equals(arguments[0]) ? 1 : 0;
            case "getString" -> ROW.get(String.valueOf(arguments[0]));
            case "getObject" ->
                arguments[1] == OffsetDateTime.class ? OffsetDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC) : null;
            default -> nothing(self, method, arguments);
        });
    }

    private static Object nothing(Object self, java.lang.reflect.Method method, Object[] arguments) {
        Class<?> type = method.getReturnType();
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 0;
        }
        return type == long.class ? (Object) 0L : null;
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
