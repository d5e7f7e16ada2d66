package dev.outbox.evolution.sqlserver;

import dev.outbox.sqlserver.SqlServerDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * Leaves out what a Babelfish server refuses in the scripts of a migration, so that the rest of them can be tried there:
 * it knows no change of a column to NULL or NOT NULL, and no names of defaults. And it gives indexes names of its own, in which that of the script
 * comes first, the table's next, and then 32 characters.
 */
final class ForgivingDataSource {
    private static final Pattern REFUSED = Pattern.compile(
            "ALTER TABLE \\S+ (ALTER COLUMN .* NULL|DROP CONSTRAINT \\[DF_.*|ADD CONSTRAINT .* DEFAULT .* FOR .*)");

    /** It cannot add such a column with a default. */
    private static final Pattern TINYINT = Pattern.compile("( tinyint NULL) CONSTRAINT .*");

    private static final String INDEX_NAME = "SELECT i.name AS index_name,";
    private static final String SCRIPTS_NAME = "SELECT CASE WHEN LEN(i.name) > 32"
            + " THEN LEFT(i.name, LEN(i.name) - 32 - LEN(OBJECT_NAME(i.object_id))) ELSE i.name END AS index_name,";

    private ForgivingDataSource() {}

    static DataSource over(SqlServerDatabase database) {
        return over(database, database.pool());
    }

    static DataSource over(SqlServerDatabase database, DataSource dataSource) {
        return database.isBabelfish() ? proxy(DataSource.class, dataSource) : dataSource;
    }

    private static <T> T proxy(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getName().equals("execute")
                            && arguments != null
                            && REFUSED.matcher(String.valueOf(arguments[0])).matches()) {
                        return false;
                    }
                    if (method.getName().equals("execute") && arguments != null) {
                        arguments[0] =
                                TINYINT.matcher(String.valueOf(arguments[0])).replaceAll("$1");
                    }
                    if (method.getName().equals("prepareStatement")) {
                        arguments[0] = String.valueOf(arguments[0]).replace(INDEX_NAME, SCRIPTS_NAME);
                    }
                    try {
                        Object result = method.invoke(target, arguments);
                        return switch (method.getName()) {
                            case "getConnection" -> proxy(Connection.class, (Connection) result);
                            case "createStatement" -> proxy(Statement.class, (Statement) result);
                            default -> result;
                        };
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                }));
    }
}
