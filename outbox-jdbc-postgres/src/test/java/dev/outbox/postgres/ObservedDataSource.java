package dev.outbox.postgres;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** A data source that remembers the statements run on its connections, and how the connections came back. */
final class ObservedDataSource {
    /** How a connection was handed out, and how it came back. */
    record Loan(State before, State after) {}

    /** What must not change. */
    record State(int isolation, boolean autoCommit) {
        static State of(Connection connection) throws SQLException {
            State state = new State(connection.getTransactionIsolation(), connection.getAutoCommit());
            if (!state.autoCommit) {
                connection.rollback(); // asking opened a transaction
            }
            return state;
        }
    }

    private final Supplier<DataSource> dataSource;
    private final boolean watchesState;
    private final Queue<String> statements = new ConcurrentLinkedQueue<>();
    private final Queue<Loan> loans = new ConcurrentLinkedQueue<>();

    private ObservedDataSource(Supplier<DataSource> dataSource, boolean watchesState) {
        this.dataSource = dataSource;
        this.watchesState = watchesState;
    }

    /** Remembers statements. */
    static ObservedDataSource statementsOf(DataSource dataSource) {
        return new ObservedDataSource(() -> dataSource, false);
    }

    /** The same of a data source that is another one from time to time. */
    static ObservedDataSource statementsOf(Supplier<DataSource> dataSource) {
        return new ObservedDataSource(dataSource, false);
    }

    /** Remembers loans too, at the price of asking each connection. */
    static ObservedDataSource loansOf(DataSource dataSource) {
        return new ObservedDataSource(() -> dataSource, true);
    }

    DataSource dataSource() {
        return proxy(DataSource.class, (method, arguments) -> {
            Object answer = call(dataSource.get(), method, arguments);
            return answer instanceof Connection connection ? observed(connection) : answer;
        });
    }

    /** How many statements held this text. */
    long count(String text) {
        return statements.stream().filter(sql -> sql.contains(text)).count();
    }

    /** How many claims. */
    long claims() {
        return count("WITH arrived");
    }

    /** How many statements of any kind. */
    long count() {
        return statements.size();
    }

    void forget() {
        statements.clear();
        loans.clear();
    }

    List<Loan> loans() {
        return List.copyOf(loans);
    }

    private Connection observed(Connection connection) throws SQLException {
        State before = watchesState ? State.of(connection) : new State(0, true);
        return proxy(Connection.class, (method, arguments) -> {
            if (method.getName().equals("close") && watchesState && !connection.isClosed()) {
                loans.add(new Loan(before, State.of(connection)));
            }
            Object answer = call(connection, method, arguments);
            return answer instanceof PreparedStatement statement ? observed(statement, (String) arguments[0]) : answer;
        });
    }

    private PreparedStatement observed(PreparedStatement statement, String sql) {
        return proxy(PreparedStatement.class, (method, arguments) -> {
            if (method.getName().startsWith("execute")) {
                statements.add(sql);
            }
            return call(statement, method, arguments);
        });
    }

    private interface Handler {
        Object handle(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
        InvocationHandler invocation = (proxy, method, arguments) -> handler.handle(method, arguments);
        return type.cast(
                Proxy.newProxyInstance(ObservedDataSource.class.getClassLoader(), new Class<?>[] {type}, invocation));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
