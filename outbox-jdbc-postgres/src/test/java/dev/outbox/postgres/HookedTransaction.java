package dev.outbox.postgres;

import dev.outbox.CurrentTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A framework's transaction, as far as it matters here. */
final class HookedTransaction implements CurrentTransaction {
    private final Connection connection;
    private final List<Consumer<Completion>> hooks = new ArrayList<>();

    HookedTransaction(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void afterCompletion(Consumer<Completion> action) {
        hooks.add(action);
    }

    void commit() throws SQLException {
        connection.commit();
        complete(Completion.COMMITTED);
    }

    void rollback() throws SQLException {
        connection.rollback();
        complete(Completion.ROLLED_BACK);
    }

    private void complete(Completion completion) {
        List.copyOf(hooks).forEach(hook -> hook.accept(completion));
        hooks.clear();
    }
}
