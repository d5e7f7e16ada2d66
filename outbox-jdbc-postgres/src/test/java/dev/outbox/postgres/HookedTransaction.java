package dev.outbox.postgres;

import dev.outbox.CurrentTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A framework's transaction, as far as it matters here. */
final class HookedTransaction implements CurrentTransaction {
    private final Connection connection;
    private final List<Runnable> hooks = new ArrayList<>();

    HookedTransaction(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void afterCommit(Runnable action) {
        hooks.add(action);
    }

    void commit() throws SQLException {
        connection.commit();
        List.copyOf(hooks).forEach(Runnable::run);
        hooks.clear();
    }

    void rollback() throws SQLException {
        connection.rollback();
        hooks.clear();
    }
}
